"""What a catalog brings that the baseline, a catalog or a bundle accepted before, did not have."""
