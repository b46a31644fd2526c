"""Messages in, turns, messages out: intake, authorization, routing, delivery."""
