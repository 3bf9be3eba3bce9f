"""Writes the bundle, and checks the rules that prevent an export."""
