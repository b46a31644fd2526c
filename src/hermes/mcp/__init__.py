"""Outside MCP servers as sources of tools."""
