"""How tools are used: calls and requests read from a gateway's log or an agent's traces."""
