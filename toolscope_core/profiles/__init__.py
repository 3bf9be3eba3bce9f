"""Profiles: the tools of a toolset for one agent."""
