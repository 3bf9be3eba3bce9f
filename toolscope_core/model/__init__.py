"""Tools, catalogs, pairs, clusters and plans; settings, errors and what a model has to offer."""
