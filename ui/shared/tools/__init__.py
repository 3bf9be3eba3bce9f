"""Tools as several pages show them: the drawer, the selection and the table."""
