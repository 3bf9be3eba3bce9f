"""The bytes of a regular file (no pipe, device or folder) of limited size."""

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 512 << 20
DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading a file as JSON of some form raises where it holds something else."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A pipe is opened without waiting for whoever writes to it, so that it can be refused."""


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file. Raises ``OSError`` for anything else, at once, for a path
    that can name no file, and for more than ``most`` bytes.
    """
    try:
        descriptor = os.open(path, _READ)
    except ValueError as error:  # a NUL in the path, or text that no path can hold
        raise OSError(errno.EINVAL, str(error), ascii(str(path))) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content
