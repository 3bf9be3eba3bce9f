"""Tools as several pages show them: drawer, selection, table."""
