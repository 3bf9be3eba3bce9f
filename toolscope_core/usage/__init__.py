"""What retrieval learns from queries with known tools (Moon et al. 2024)."""
