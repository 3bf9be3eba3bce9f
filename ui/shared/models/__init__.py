"""A model asked from a page: estimate, budget, runs, grades."""
