"""The services behind the pages: one method per button, over one store."""
