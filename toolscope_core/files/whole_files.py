"""The bytes of a regular file (no pipe, device or folder) of limited size."""

import errno
import stat
from pathlib import Path

MOST_BYTES = 512 << 20
DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading a file as JSON of some form raises where it holds something else."""


def read_file(path: Path) -> bytes:
    """The content of a regular file. Raises ``OSError`` for anything else, at once, for a path
    that can name no file, and for more than ``MOST_BYTES``.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except ValueError as error:  # a NUL in the path, or text that no path can hold
        raise OSError(errno.EINVAL, str(error), ascii(str(path))) from error
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB", str(path))
    return content
