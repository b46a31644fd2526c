"""Front ends: each one consumes the events of a turn and nothing else."""
