"""One file is one wire protocol; catalog/ holds one TOML file per vendor."""
