"""What ends a turn that makes no progress: pure functions over effects and results."""
