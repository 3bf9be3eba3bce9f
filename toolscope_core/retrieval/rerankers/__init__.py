"""What scores the best documents of a search anew: one module each, named in ``reranker_table``."""
