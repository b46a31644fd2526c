"""The loop: ask the model, act on its calls, repeat. Knows nouns, never a concrete capability."""
