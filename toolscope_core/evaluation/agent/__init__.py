"""An agent that carries out requests by calling tools, to see what a merge does to its work.

``agent_loop`` is the agent, ``offered_tools`` what it is given of a gateway, ``agent_runs`` lets it
work on a query set with two toolsets, and ``agent_report`` sets them side by side.
"""
