"""The commands of the command line: read files, call the core, write, report."""
