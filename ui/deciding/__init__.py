"""Deciding on proposals: cards, buttons, what was decided and its undo."""
