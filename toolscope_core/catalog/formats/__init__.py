"""The formats of tools: one table, and the readers, writers and checks of each."""
