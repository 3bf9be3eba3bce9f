"""Clients of tools: reads their configurations, and switches tools off in them."""
