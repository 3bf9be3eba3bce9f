"""The exported toolset: figures, bundle, checks by client, ways below a tool limit."""
