"""One file is one way to sign in to a vendor; pools of keys."""
