"""The exported toolset: its figures, the bundle, checks for each client, and ways to stay within a
limit on tools.
"""
