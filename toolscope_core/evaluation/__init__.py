"""Measures how well tools are found: query sets, metrics over them, and the metrics'
uncertainty.
"""
