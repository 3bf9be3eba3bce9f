"""What a request finds."""
