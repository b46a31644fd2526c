"""Turns that start by the clock: triggers, occurrences, the tick."""
