"""Profiles: the tools of each agent, ticked by a person or derived from the agent's requests."""
