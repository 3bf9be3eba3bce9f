"""The limits of what is read; the error that a limit causes names it."""

MIB = 1 << 20

MAX_BYTES = 64 * MIB  # of one file
MAX_TOTAL_BYTES = 4 * MAX_BYTES  # of all files given at once
MAX_RECORDS = 100_000  # of all files given at once
MAX_DEPTH = 100  # of one document, in levels
MAX_TEXT = 1_000_000  # of one text, in characters
MAX_DIGITS = 4300  # of one integer: Python refuses to write longer ones back
MAX_YAML_VALUES = 1_000_000  # of one document, with all aliases written out
MAX_YAML_CHARACTERS = MAX_BYTES  # of its texts, with all aliases written out
MAX_EXPANDED = 500_000  # values that references add to one document; ``budget`` counts them

READING_BYTES = 3072 * MIB  # the address space of the process that reads
READING_SECONDS = 60.0
