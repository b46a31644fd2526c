"""What may happen: effects of a command, policy, the gate, safe HTTP, secrets."""
