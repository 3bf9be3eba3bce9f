"""Retrieval–Plan–Select: document variants, planner and workers."""
