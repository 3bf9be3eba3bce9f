"""The exported bundle, and the rules that stop an export."""
