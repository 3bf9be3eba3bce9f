"""Two tools: the ranked list, side by side, the evidence."""
