"""Whether two tools answer the same calls alike: calls written, sent to both, results compared."""
