"""Pure helpers: text, ids, back-off, server-sent events. No I/O, no hermes imports."""
