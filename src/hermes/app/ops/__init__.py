"""One file is one subcommand of the hermes command, imported by name when used."""
