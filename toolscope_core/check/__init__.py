"""What is new in a catalog compared with a baseline: a catalog or bundle accepted before."""
