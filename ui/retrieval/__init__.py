"""The parts of the page that shows what a request finds."""
