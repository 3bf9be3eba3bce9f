"""People's decisions: the log, its actions, replay and import."""
