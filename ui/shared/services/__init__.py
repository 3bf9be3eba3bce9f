"""What a page asks for: one method a button, over one store."""
