"""The Review page: the queue, the card of a proposal, many proposals at once, and
pairs of servers.
"""
