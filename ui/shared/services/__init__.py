"""The services behind the pages, over one store. Each button calls one method."""
