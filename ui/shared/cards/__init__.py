"""Proposals and decisions as several pages show them: cards, the queue, keys and documents."""
