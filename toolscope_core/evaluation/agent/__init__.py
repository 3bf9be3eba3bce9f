"""An agent that handles requests by calling tools, to see how a merge affects its work.

``agent_loop`` is the agent, ``offered_tools`` are its tools from a gateway, ``agent_runs`` runs it
on a query set with two toolsets, and ``agent_report`` compares them.
"""
