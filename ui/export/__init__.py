"""The exported toolset: validation by client and ways below a tool limit."""
