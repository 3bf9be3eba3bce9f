"""What retrieval learns from queries with known tools (Moon et al., arXiv 2409.02141)."""
