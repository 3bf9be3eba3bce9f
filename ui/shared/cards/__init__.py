"""Proposals and decisions as pages show them: cards, queue, keys, documents."""
