"""Who runs a session that has waiting items."""
