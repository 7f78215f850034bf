"""Mends the table that says which `try` an instruction stands in.

Python 3.13 leaves the jump back to a loop's beginning out of it. The interpreter looks for signals there, so what a handler raises would
leave a guarded function past its guard, which would take the call for one that still runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from opcode import opmap
from types import CodeType
from typing import Any

# Start, length, place of the handler, depth of the stack and a flag in one: all as the interpreter has them.
Entry = tuple[int, int, int, int]

_BACK = opmap.get("JUMP_BACKWARD", -1)
_EXTENDED = opmap["EXTENDED_ARG"]
_CACHE = opmap.get("CACHE", -1)
_NOTHING = opmap["NOP"]


def cover_jumps(code: CodeType) -> CodeType:
    """The code with every jump back inside the `try` its loop stands in."""
    table: bytes = getattr(code, "co_exceptiontable", b"")
    if not table:
        return code
    entries = list(_read(table))
    added = [entry for entry in map(lambda jump: _missing(jump, entries), _jumps(code.co_code)) if entry is not None]
    if not added:
        return code
    mended: dict[str, Any] = {"co_exceptiontable": _write(sorted(entries + added))}
    return code.replace(**mended)


def _jumps(code: bytes) -> Iterator[tuple[int, int, int]]:
    """Start, end and target of every jump back, in units of two bytes."""
    operations, arguments = code[::2], code[1::2]
    place = 0
    while place < len(operations):
        start = place
        argument = arguments[place]
        while operations[place] == _EXTENDED:
            place += 1
            argument = argument << 8 | arguments[place]
        is_jump = operations[place] == _BACK
        place += 1
        while place < len(operations) and operations[place] == _CACHE:
            place += 1
        if is_jump:
            target = place - argument
            while operations[target] == _NOTHING:
                target += 1
            yield start, place, target


def _missing(jump: tuple[int, int, int], entries: list[Entry]) -> Entry | None:
    start, end, target = jump
    if _at(start, entries) is not None:
        return None
    around = [entry for entry in (_at(start - 1, entries), _at(target, entries)) if entry is not None]
    if len(around) < 2:
        return None
    # Where they differ, one stands in a `try` inside the loop: the other's handler is the outer one.
    _, _, handler, depth = min(around, key=lambda entry: (entry[3] >> 1, -entry[2]))
    return start, end - start, handler, depth


def _at(place: int, entries: list[Entry]) -> Entry | None:
    return next((entry for entry in entries if entry[0] <= place < entry[0] + entry[1]), None)


def _read(table: bytes) -> Iterator[Entry]:
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 0x3F
        if not byte & 0x40:
            numbers.append(value)
            value = 0
    for index in range(0, len(numbers), 4):
        yield numbers[index], numbers[index + 1], numbers[index + 2], numbers[index + 3]


def _write(entries: list[Entry]) -> bytes:
    out = bytearray()
    for entry in entries:
        first = len(out)
        for value in entry:
            groups = [value & 0x3F]
            while value := value >> 6:
                groups.append(value & 0x3F | 0x40)
            out += bytes(reversed(groups))
        out[first] |= 0x80
    return bytes(out)
