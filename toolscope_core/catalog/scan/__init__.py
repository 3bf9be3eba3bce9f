"""Scans tools for hidden and hostile text, for shadowing, and for citations of other tools."""
