"""Large values that change in place, anywhere, between calls: both ways record what was there, and write the same."""

from __future__ import annotations

import random
from marshal import loads
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from large_support import PADDING, given_to, made_in, results, returned, starts
from spool_reader import END, START
from test_states_properties import same

LEAVES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    1.0,
    0.0,
    -0.0,
    "a",
    "1",
    b"a",
    2**70,
    5,
    PADDING[:600],
    "password=hunter22",
]


def build(choose: random.Random, depth: int) -> Any:
    kind = choose.choice("ldtx" if depth else "x")
    if kind == "x":
        return choose.choice(LEAVES)
    parts = [build(choose, depth - 1) for _ in range(choose.choice((0, 1, 2, 3, 3, 20)))]
    if kind == "l":
        return parts
    if kind == "t":
        return tuple(parts)
    return {choose.choice(("", "pass", "name ", "value")) + f"f{number}": part for number, part in enumerate(parts)}


def containers(value: Any) -> list[Any]:
    found: list[Any] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            stack += item.values()
        elif type(item) in (list, tuple):
            stack += item
        if type(item) in (list, dict):
            found.append(item)
    return found


def change(choose: random.Random, value: Any) -> None:
    item = choose.choice(containers(value))
    other = choose.choice(LEAVES)
    if not item:
        item.append(other) if type(item) is list else item.update(new=other)
    elif type(item) is list:
        place = choose.randrange(len(item))
        way = choose.randrange(4)
        if way == 0:
            item[place] = other
        elif way == 1:
            item.insert(0, item.pop(place))
        elif way == 2:
            item.pop(place)
        else:
            item.reverse()
    else:
        key = choose.choice(list(item))
        way = choose.randrange(3)
        if way == 0:
            item[key] = other
        elif way == 1:
            item[f"{key}x"] = item.pop(key)
        else:
            item[key] = item.pop(key)


def marks(folder: Path) -> list[Any]:
    """What is written, with references counted from the first on."""
    serials: dict[int, int] = {}
    out: list[Any] = []

    def plain(value: Any) -> Any:
        kind = type(value)
        if kind is tuple and value[:2] in ((..., "keep"), (..., "same")):
            return (
                value[1],
                serials.setdefault(value[2], len(serials)),
                *map(plain, value[3:]),
            )
        if kind in (list, tuple):
            return kind(map(plain, value))
        return {key: plain(item) for key, item in value.items()} if kind is dict else value

    for path in sorted(folder.glob("*.spool")):
        data, place = path.read_bytes(), 8
        while int.from_bytes(data[place : place + 4], "little") not in (0, 0xFFFFFFFF):
            length = int.from_bytes(data[place : place + 4], "little")
            frame = loads(data[place + 8 : place + 8 + length])
            out.append(plain(frame[6] if frame[0] == START else frame[4] if frame[0] == END else None))
            place = (place + 8 + length + 3) & -4
    return out


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(0, 2), min_size=4, max_size=12),
    st.sampled_from([1 << 20, 20_000, 8000]),
)
def test_what_is_recorded_is_what_was_there(tmp_path_factory: Any, seed: int, changes: list[int], most: int) -> None:
    ways: list[list[Any]] = []
    for way in ("compiled", "python", "whole"):
        with pytest.MonkeyPatch.context() as patch:
            choose = random.Random(seed)
            folder = tmp_path_factory.getbasetemp() / way
            writer = made_in(folder, way, patch, max_value_bytes=most, references=way != "whole")
            one, two = (
                [build(choose, 4), PADDING],
                {"rows": build(choose, 3), "padding": [PADDING, build(choose, 2)]},
            )
            for times in changes:
                for _ in range(times):
                    change(choose, choose.choice((one, two)))
                given_to(writer, one, choose.choice(LEAVES), two)
                returned(writer, two)
                given_to(writer, PADDING, two)
            writer.close()
            ways.append([starts(folder), results(folder)])
            if way != "whole":
                ways[-1].append(marks(folder))
    compiled, python, whole = ways
    assert same(compiled[:2], whole) and same(python[:2], whole)
    assert same(compiled[2], python[2])
