"""The bundle that leaves, and what may not leave."""
