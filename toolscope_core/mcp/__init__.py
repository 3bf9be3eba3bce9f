"""MCP servers read live, and the gateway in front of them."""
