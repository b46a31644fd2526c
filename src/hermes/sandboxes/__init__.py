"""One file is one place where commands run and files live."""
