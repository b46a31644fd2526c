"""One file is one tool, or one small family of them. Nothing else lives here."""
