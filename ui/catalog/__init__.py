"""The Catalog page: adding a catalog, and showing its overview, tools and findings."""
