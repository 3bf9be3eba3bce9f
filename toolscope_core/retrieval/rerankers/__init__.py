"""Rerankers of the best documents: one module each, listed in ``reranker_table``."""
