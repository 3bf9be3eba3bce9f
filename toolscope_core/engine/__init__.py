"""Engines run blocks of work, also on other machines; `LOCAL` runs them in this process."""
