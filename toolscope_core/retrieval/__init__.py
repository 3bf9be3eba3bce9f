"""Finds tools for a request: ToolScopeRetriever (ToolScope, arXiv 2510.20036, §3.3)."""
