"""The terminal: one question and its answer (oneshot), or a conversation (interactive)."""
