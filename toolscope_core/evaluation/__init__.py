"""How well tools are found: query sets, metrics over them, and how sure the metrics are."""
