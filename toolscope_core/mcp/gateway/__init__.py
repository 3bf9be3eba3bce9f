"""An MCP server whose tools are a merged toolset; calls go to the original servers through φ and α.

``routing`` and ``call_mapping`` are pure; ``original_servers`` keeps the connections, and
``gateway_server`` is what agents connect to.
"""
