"""User scripts and built-in hooks around tools, turns and messages."""
