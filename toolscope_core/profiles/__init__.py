"""Profiles: the tools of a toolset that one agent gets."""
