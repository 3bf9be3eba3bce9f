"""Ask a model what the ledger has no answer to yet: within a budget, and nothing twice."""
