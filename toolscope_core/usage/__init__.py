"""How tools are used: calls and requests, read from a gateway's log or from agents' traces."""
