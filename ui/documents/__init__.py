"""Editing the document of a merged tool."""
