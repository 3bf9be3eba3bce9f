"""The clients of tools: their configurations in, and what switches tools off in them."""
