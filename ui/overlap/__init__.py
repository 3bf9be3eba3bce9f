"""The Overlap page: pairs, curve, threshold, heatmap, map."""
