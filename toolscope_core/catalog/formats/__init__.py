"""The formats of tools: one table of all formats, and their readers, writers and checks."""
