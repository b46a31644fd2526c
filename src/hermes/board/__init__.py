"""The kanban board: cards, claims, watchers."""
