"""Charts of every page: colours, tables beside them, pictures to save."""
