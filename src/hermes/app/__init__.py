"""The composition root: the only code that knows everything and wires it."""
