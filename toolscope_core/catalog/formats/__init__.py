"""The formats of tools: one table, and what reads, writes and checks each."""
