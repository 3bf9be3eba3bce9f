"""An agent that handles requests by calling tools, to show how a merge affects an agent's work.

``agent_loop`` is the agent, and ``offered_tools`` are its tools from a gateway. ``agent_runs`` runs
the agent on a query set with two toolsets, and ``agent_report`` compares the two.
"""
