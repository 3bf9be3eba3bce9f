"""Models: which endpoint, what asking costs, runs and their answers."""
