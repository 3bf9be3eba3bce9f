"""The Catalog page: adding and looking at what was loaded."""
