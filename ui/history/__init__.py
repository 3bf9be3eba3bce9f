"""The panels of the History page."""
