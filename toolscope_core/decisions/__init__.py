"""What people decided: the log, its actions, replay and import."""
