"""Whether two tools do the same job: what is read in them, signals, and the judge."""
