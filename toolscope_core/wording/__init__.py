"""The words of a tool: as declared, as embedded, and what they mean."""
