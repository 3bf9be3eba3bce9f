"""The exported toolset: figures, bundle, validation by client, ways below a tool limit."""
