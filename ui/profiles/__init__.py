"""Profiles: the tools of each agent, ticked or made from what it has to do."""
