"""Clients of tools: reading their configurations, and switching tools off in them."""
