"""Reads spool files back, as a follower would: for tests only. Also makes the runtime importable from the source tree."""

from __future__ import annotations

import marshal
import struct
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

_RUNTIME = str(Path(__file__).resolve().parents[3] / "runtimes" / "python")
if _RUNTIME not in sys.path:
    sys.path.insert(0, _RUNTIME)

SEGMENT, FUNCTION, TASK, START, END, STATE, EVENT, RENAME = range(8)


def read_segment(path: Path) -> list[tuple[Any, ...]]:
    """Frames of one file up to the first that is not committed. Raises AssertionError for a wrong checksum."""
    data = path.read_bytes()
    if not data:
        return []  # A handler's exception came while it was made: it stays, so that its number is not one of a file that was lost.
    assert data[:8] == b"TBSPOOL1"
    place = 8
    kept: dict[int, Any] = {}
    frames: list[tuple[Any, ...]] = []
    while place + 8 <= len(data):
        length, checksum = struct.unpack_from("<II", data, place)
        if length in (0, 0xFFFFFFFF):
            break  # Nothing yet, or nothing ever: the writer went on in another file.
        payload = data[place + 8 : place + 8 + length]
        assert len(payload) == length and crc32(payload) == checksum, f"torn frame at {place} of {path.name}"
        frames.append(resolved(marshal.loads(payload), kept))
        place = (place + 8 + length + 3) & -4
    return frames


def resolved(value: Any, kept: dict[int, Any]) -> Any:
    """The value with what is kept and referred to in place; `kept` is what its file had until now."""
    kind = type(value)
    if kind is tuple and value[:2] == (..., "keep"):
        kept[value[2]] = found = resolved(value[3], kept)
        return found
    if kind is tuple and value[:2] == (..., "same"):
        return kept[value[2]]
    if kind is tuple or kind is list:
        return kind(resolved(item, kept) for item in value)
    if kind is dict:
        return {resolved(key, kept): resolved(item, kept) for key, item in value.items()}
    return value


def read_folder(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Frames by file name, in the order of the segments' numbers."""
    paths = sorted(
        folder.glob("*.spool"), key=lambda path: (path.stem.rpartition("-")[0], int(path.stem.rpartition("-")[2]))
    )
    return {path.name: read_segment(path) for path in paths}


def all_frames(folder: Path) -> list[tuple[Any, ...]]:
    return [frame for frames in read_folder(folder).values() for frame in frames]


def calls_of(folder: str, name: str) -> list[int]:
    """How many calls of a function each process has, fewest first; of those that have some."""
    processes: dict[str, list[tuple[Any, ...]]] = {}
    for file, frames in read_folder(Path(folder)).items():
        processes.setdefault(file.rsplit("-", 1)[0], []).extend(frames)
    counts = []
    for frames in processes.values():
        ids = {frame[1] for frame in frames if frame[0] == FUNCTION and frame[3] == name}
        counts.append(sum(frame[0] == START and frame[3] in ids for frame in frames))
    return sorted(count for count in counts if count)


def is_tag(value: Any) -> bool:
    return type(value) is tuple and len(value) > 1 and value[0] is ...


def is_plain(value: Any) -> bool:
    """Whether only what `protocol/spool.ts` allows is inside."""
    kind = type(value)
    if value is None or value is ... or kind in (bool, int, float, complex, str, bytes):
        return True
    if kind in (list, tuple, set, frozenset):
        return all(is_plain(item) for item in value)
    if kind is dict:
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    return False


def has_mark(value: Any) -> bool:
    """Whether something inside was cut, masked or could not be read."""
    if is_tag(value) and value[1] in ("cut", "masked", "cycle", "opaque"):
        return True
    if type(value) in (list, tuple, set, frozenset):
        return any(has_mark(item) for item in value)
    if type(value) is dict:
        return any(has_mark(item) for pair in value.items() for item in pair)
    return False
