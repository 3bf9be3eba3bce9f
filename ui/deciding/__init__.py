"""Deciding on proposals: cards, buttons, shortcuts, the list of decisions with undo."""
