"""Writes files and folders completely or not at all; reads archives and JSON Lines."""
