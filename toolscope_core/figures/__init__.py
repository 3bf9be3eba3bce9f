"""Figures: ``views`` holds their data; the charts (Plotly) and ``network`` (vis-network) draw."""
