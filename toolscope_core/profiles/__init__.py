"""Profiles: the tools from a toolset that one agent gets."""
