"""Connections to MCP servers, by the ``mcp`` SDK: what is started or opened here is ended here.

Nothing is started by reading a configuration. ``connected`` opens one server, for a short listing
or for as long as a gateway runs; ``list_server`` reads all that one offers.
"""
