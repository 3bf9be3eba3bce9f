"""The words of a tool: those it was declared in, those that are embedded, and what they mean."""
