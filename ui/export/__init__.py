"""The exported toolset: figures, bundle, checks by client, and ways to get below a tool limit."""
