"""Asking a model from a page: estimate, budget, runs, grades."""
