"""Which argument of one tool corresponds to which of another."""
