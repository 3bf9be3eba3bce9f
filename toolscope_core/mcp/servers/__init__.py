"""Connects to MCP servers through the ``mcp`` SDK, and stops whatever it starts.

Reading a configuration starts nothing. ``connected`` opens one server, for a short listing or for
as long as a gateway runs; ``read_offer`` reads everything that a server offers.
"""
