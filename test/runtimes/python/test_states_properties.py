"""A state that is changed in place, anywhere, between two recordings: what is stored equals what was there."""

from __future__ import annotations

import random
from typing import Any

import langgraph.graph  # noqa: F401  What compiled code is prepared with.
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from state_file import StateFile
from toolbreak import _optional
from toolbreak._frameworks import _short
from toolbreak._values import Settings


class Box:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("code of the app ran")

    def __repr__(self) -> str:
        raise AssertionError("code of the app ran")

    __hash__ = None  # type: ignore[assignment]


class Crate(Box):
    pass


PADDING = "words that make it large " * 20
# Few leaves, so that equal things of other types and moves between neighbours come often.
LEAVES: list[Any] = [None, True, False, 0, 1, 1.0, 0.0, -0.0, "a", "1", b"a", (1, 2), PADDING]


def build(choose: random.Random, depth: int) -> Any:
    kind = choose.choice("ldbtsxx" if depth else "x")
    if kind == "x":
        return choose.choice(LEAVES)
    if kind == "s":
        return set(choose.sample(LEAVES, choose.randrange(4))) | {PADDING * 2}
    parts = [build(choose, depth - 1) for _ in range(choose.choice((0, 1, 2, 3, 3, 4, 20)))]
    if kind == "l":
        return parts
    if kind == "t":
        return tuple(parts)
    fields = {f"f{number}": part for number, part in enumerate(parts)}
    return fields if kind == "d" else choose.choice((Box, Crate))(**fields)


def containers(value: Any) -> list[Any]:
    """Everything in it that can be changed in place."""
    found: list[Any] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            stack += item.values()
        elif type(item) in (list, tuple):
            stack += item
        elif isinstance(item, Box):
            stack += vars(item).values()
        elif type(item) is not set:
            continue
        if type(item) is not tuple:
            found.append(item)
    return found


def change_fields(choose: random.Random, fields: dict[str, Any], other: Any) -> None:
    if not fields:
        fields["new"] = choose.choice(LEAVES)
        return
    key = choose.choice(list(fields))
    way = choose.randrange(5)
    if way == 0:
        fields[key] = choose.choice(LEAVES)
    elif way == 1:
        fields["renamed"] = fields.pop(key)
    elif way == 2:
        fields[key] = fields.pop(key)
    elif way == 3:
        del fields[key]
    else:
        give(other, fields.pop(key))


def change_list(choose: random.Random, items: list[Any], other: Any) -> None:
    if not items:
        items.append(choose.choice(LEAVES))
        return
    place = choose.randrange(len(items))
    way = choose.randrange(5)
    if way == 0:
        items[place] = choose.choice(LEAVES)
    elif way == 1:
        items.insert(choose.randrange(len(items)), items.pop(place))
    elif way == 2:
        items.reverse()
    elif way == 3:
        items.clear()
    else:
        give(other, items.pop(place))


def give(other: Any, item: Any) -> None:
    """Moves something into a neighbour; it may be anything that holds nothing itself, so that no cycle comes of it."""
    if containers(item):
        return
    if type(other) is list:
        other.insert(0, item)
    elif isinstance(other, Box):
        vars(other)["given"] = item
    elif type(other) is set:
        other.add(str(item))
    else:
        other["given"] = item


def change(choose: random.Random, state: Any) -> None:
    found = [item for item in containers(state) if item is not state]
    if not found:
        return
    item, other = choose.choice(found), choose.choice(found)
    if type(item) is set:
        if len(item) > 1 and choose.random() < 0.5:
            item.pop()
        item.add(choose.choice(LEAVES))
    elif type(item) is list:
        change_list(choose, item, other)
    elif type(item) is dict:
        change_fields(choose, item, other)
    else:
        way = choose.randrange(6)
        if way == 0:
            item.__class__ = Crate if type(item) is Box else Box
        elif way == 1:
            item.__dict__ = dict(vars(item))
        else:
            change_fields(choose, vars(item), other)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one) is float:
        return repr(one) == repr(other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other))
    if type(one) is dict:
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one.items(), other.items()))
    return bool(one == other)


def grow(choose: random.Random, state: dict[str, Any]) -> None:
    """What a reducer does: a list is made anew around the items that it had, and they stay in place or change."""
    items = [*state["small"], {"step": len(state["small"]), "text": "what was found " * choose.randrange(12)}]
    if choose.random() < 0.2:
        items.pop(choose.randrange(len(items)))
    if choose.random() < 0.3:
        change(choose, {"items": items})
    state["small"] = items
    messages = [*state["handed"]["messages"], Box(content="what was said " * choose.randrange(12), id=None)]
    for message in messages[-2:]:
        message.id = choose.choice((None, "1", len(messages)))
    state["handed"] = {
        "messages": messages,
        "call": {"name": "look", "token": "secret"} if choose.random() < 0.2 else None,
    }


@pytest.mark.parametrize("way", ["compiled", "python"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), changes=st.lists(st.integers(0, 3), min_size=4, max_size=12))
def test_what_is_stored_is_what_was_there(way: str, seed: int, changes: list[int]) -> None:
    assert _optional.told_items is None or _short._prepare()
    told, _optional.told_items = _optional.told_items, None if way == "python" else _optional.told_items
    try:
        store(random.Random(seed), changes)
    finally:
        _optional.told_items = told


def store(choose: random.Random, changes: list[int]) -> None:
    file = StateFile()
    encode = Settings(seconds=60.0).encode
    shared = build(choose, 3)
    state = {
        "count": 0,
        "one": build(choose, 4),
        "two": [shared, PADDING, build(choose, 2)],
        "three": {
            "padding": PADDING,
            "shared": shared,
            "more": [Box(text=PADDING, shared=shared), Box(text="b" * 500)],
        },
        "four": [Box(text=PADDING, value=build(choose, 2)) for _ in range(3)],
    }
    growing: dict[str, Any] = {"small": [], "handed": {"messages": []}}
    for count, times in enumerate(changes):
        for _ in range(times):
            change(choose, state)
        grow(choose, growing)
        state["count"] = count
        state["four"] = list(state["four"]) if type(state["four"]) is list else state["four"]
        for written in (state, state, growing, growing, Crate(**state, **growing)):
            assert same(file.write(written), encode(written))
