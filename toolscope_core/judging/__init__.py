"""Whether two tools do the same job: reading them, signals, and the judge."""
