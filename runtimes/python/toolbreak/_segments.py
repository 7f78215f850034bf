"""One mapped spool file, and whose it is. What is appended is in `_spool`."""

from __future__ import annotations

import mmap
import os
import sys
from typing import Any
from zlib import crc32

from . import _optional, _report, _standard
from ._real import Real

MAGIC = b"TBSPOOL1"
# Kept free at the end of every segment, so that a mark always fits.
RESERVE = 512
# Bytes of a file behind its mapping, so that it is known by its size: hardly a file of an app's has so many.
BEHIND = 52
# In place of a frame's length: no frame follows in this file. The same in either order of bytes.
CLOSED = 0xFFFFFFFF
BIG_ENDIAN = sys.byteorder == "big"
_ZEROS = memoryview(bytes(256 * 1024))


#: Has `place`, `end` and `busy` for the compiled way of appending, `put`.
_Base: Any = object if _optional.Cursor is None else _optional.Cursor


class Segment(_Base):
    """One mapped file. `place` is where the next frame begins, a multiple of 4; `end` is where frames must stop."""

    __slots__ = (
        *(("busy", "end", "place") if _Base is object else ()),
        "checksums",
        "file",
        "kept",
        "known",
        "map",
        "path",
        "size",
        "waiting",
        "words",
    )

    def __init__(self, path: str, size: int, known: Any) -> None:
        self.path = path
        #: `Writer.known`, as long as it is that writer's.
        self.known = known
        self.size = size
        # Not inherited by programs the app starts, readable by the person alone.
        self.file = Real.open(
            path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o600
        )
        try:
            allocate(self.file, size + BEHIND)
            self.map = Real.mmap(self.file, size)
            self.map[:8] = MAGIC
        except BaseException as error:
            # Then recording goes on, and a number without a file would look like a file that was lost: it stays, closed.
            stays = _report.is_the_apps(error)
            if stays:
                _close_at_once(self.file)
            Real.close(self.file)
            if not stays:
                remove(path)
            raise
        Real.close(self.file)
        self.words: Any = memoryview(self.map).cast("I")
        #: The words that follow those.
        self.checksums: Any = self.words[1:]
        if _Base is not object:
            self.open(self.map)
        self.place = 8
        self.end = size - RESERVE
        self.busy = False
        self.waiting: list[bytes] = []
        #: Numbers of the values that later frames of this file may refer to.
        self.kept: set[int] = set()

    def keep_if_taken(self) -> bool:
        return keep_if_taken(self.map, self.size + BEHIND)

    def close(self) -> None:
        self.end = 0  # Whoever was about to append here, and was interrupted, finds no room.
        taken = self.keep_if_taken()
        try:
            self.checksums.release()
            self.words.release()
            if not taken:
                self.map.close()
        except (BufferError, ValueError, OSError) as error:
            _report.let_through(
                error
            )  # Else: a thread is in the middle of an append: the mapping goes with the process.


def keep_if_taken(mapped: mmap.mmap, size: int) -> bool:
    """
    A mapping has a file of its own, which it closes when it goes. Where the app has closed that, as one of all, its number may be the app's by now:
    then the mapping never goes.
    """
    try:
        if mapped.closed or mapped.size() == size:
            return False
    except (OSError, ValueError) as error:
        _report.let_through(error)
    ctypes = _standard.module("ctypes")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(mapped))
    return True


def _close_at_once(file: int) -> None:
    Real.ftruncate(file, 0)
    Real.lseek(file, 0, os.SEEK_SET)
    try:
        Real.write(file, MAGIC + CLOSED.to_bytes(4, "little"))
    except OSError as error:
        _report.let_through(error)  # A full disk: then it is empty.


class Slot:
    """Lives as long as its thread; then the thread's segment is free for the next new thread, which appends where it stopped."""

    __slots__ = ("free", "segment")

    def __init__(self, free: list[Segment]) -> None:
        self.free = free
        self.segment: Segment | None = None

    def __del__(self) -> None:
        if self.segment is not None:
            self.free.append(self.segment)


def allocate(file: int, size: int) -> None:
    """
    Makes the file's blocks exist: storing into a hole of a full disk would kill the process. By zeros, since writing them and the stores into
    those pages take a third of the time that stores into pages of `posix_fallocate` take.
    """
    written = 0
    while written < size:
        more = Real.write(file, _ZEROS[: size - written])
        if more <= 0:
            raise OSError("nothing could be written")
        written += more


def remove(path: str) -> None:
    try:
        Real.unlink(path)
    except OSError as error:
        _report.let_through(error)


def store(segment: Segment, payload: bytes) -> None:
    checksum, length = crc32(payload), len(payload)
    size = swapped(length) if BIG_ENDIAN else length
    if BIG_ENDIAN:
        checksum = swapped(checksum)
    place = segment.place
    after = place + 8 + length
    segment.map[place + 8 : after] = payload
    segment.checksums[place >> 2] = checksum
    segment.words[place >> 2] = size
    segment.place = (after + 3) & -4


def swapped(word: int) -> int:
    return int.from_bytes(word.to_bytes(4, "little"), "big")
