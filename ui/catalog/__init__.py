"""The Catalog page: adding a catalog, its overview, its tools and findings."""
