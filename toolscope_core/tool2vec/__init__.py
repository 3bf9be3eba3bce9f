"""Learned retrieval: usage vectors, classifier, refiner, tuning, ToolBank."""
