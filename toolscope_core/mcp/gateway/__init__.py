"""An MCP server whose tools are a merged toolset; calls reach the original servers through φ and α.

``routing`` and ``call_mapping`` are pure; ``original_servers`` keeps the connections, and agents
connect to ``gateway_server``.
"""
