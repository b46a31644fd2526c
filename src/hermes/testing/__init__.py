"""Fakes and contract suites, shipped for extension authors."""
