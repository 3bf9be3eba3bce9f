"""Where the work of a merge runs: in this process, or by blocks on the workers of a cluster."""
