"""Finds extensions, checks trust and overrides; knows no concrete one."""
