"""Profiles: the tools of each agent, ticked or derived from its requests."""
