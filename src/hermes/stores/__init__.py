"""Where state is kept: one SQL text, spoken to SQLite and to PostgreSQL."""
