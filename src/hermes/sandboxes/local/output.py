"""The output of a command: a file, of which head and tail are shown."""

import contextlib
import os
from pathlib import Path

HEAD_SHARE = 0.4
NEARLY_FULL = 65_536  # bytes free below which a failed command may have failed for want of space


def shaped(path: Path, limit: int) -> tuple[str, int]:
    """At most `limit` bytes of a file, head and tail, as text; and how many bytes there are."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            return file.read(limit).decode("utf-8", "replace"), size
        head = file.read(int(limit * HEAD_SHARE))
        tail_length = limit - len(head)
        file.seek(size - tail_length)
        tail = file.read(tail_length)
    head, tail = _without_broken_end(head), tail.lstrip(bytes(range(0x80, 0xC0)))
    left_out = size - len(head) - len(tail)
    middle = f"\n[... {left_out:,} bytes left out ...]\n"
    return head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace"), size


def _without_broken_end(data: bytes) -> bytes:
    """Drop a character that was cut in the middle at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < length else data
        if byte < 0x80:
            break
    return data


def remove(path: Path) -> None:
    """Take a file away, if it is there."""
    with contextlib.suppress(OSError):
        path.unlink()


def free_below(folder: Path) -> int:
    """Bytes that are free on the disk that holds a folder. Raise OSError."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize
