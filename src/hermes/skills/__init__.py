"""SKILL.md folders: the shelf, its index, installing, guarding."""
