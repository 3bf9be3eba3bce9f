"""Queries that a model writes (ToolBank: Tool2Vec, §3 and appendix C): tools to show it, checks."""
