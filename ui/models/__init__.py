"""Models: the endpoint, prices and estimates, runs and their answers."""
