"""Plan and select: for each job of a request candidates, and of these the tools to call
(Retrieval–Plan–Select, algorithm 1).
"""
