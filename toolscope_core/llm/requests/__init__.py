"""Asks a model what the ledger cannot answer yet, within a budget and never twice."""
