"""Which argument of one tool is which of another."""
