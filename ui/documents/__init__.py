"""The parts of the page that edits the document of a merged tool."""
