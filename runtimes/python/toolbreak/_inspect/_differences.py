"""What changed between two states, read without running code of the app; and paths such as `messages[0].content`."""

from __future__ import annotations

import re
from typing import Any

from .. import _static
from ._nodes import FIELD, INDEX, KEY, Gone, child, counts, fields_of

#: (change, path, before, after); change is "added", "removed" or "changed". What does not exist is None.
Difference = tuple[str, str, Any, Any]
_MOST = 1000
_DEPTH = 40
_LEAVES = frozenset(id(kind) for kind in (int, float, bool, complex, type(None), type(...), bytes, bytearray, str))
_SIMPLE_KEY = re.compile(r"[A-Za-z_]\w*\Z")
_STEP = re.compile(r"""\.?([A-Za-z_]\w*)|\[\s*(-?\d+)\s*\]|\[\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\]""")


def diff(before: Any, after: Any) -> list[Difference]:
    """Differences in the order of `after`, then what is gone. At most 1,000, the deepest 40 levels down."""
    found: list[Difference] = []
    _compare(before, after, "", found, 0, set())
    return found


def path_text(steps: list[tuple[str, Any]]) -> str:
    """`messages[0].content` from steps of a node."""
    text = ""
    for how, key in steps:
        text = _below(text, how, key)
    return text


def _below(path: str, how: str, key: Any) -> str:
    if how == INDEX:
        return f"{path}[{key}]"
    if type(key) is str and _SIMPLE_KEY.match(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{key!r}]" if id(type(key)) in _LEAVES else f"{path}[…]"


def parse_path(path: str) -> list[Any] | None:
    """Names and indexes of a path, or None when it is none."""
    steps: list[Any] = []
    place = 0
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None:
            return None
        name, index, double, single = match.groups()
        steps.append(
            int(index)
            if index is not None
            else name
            if name is not None
            else re.sub(r"\\(.)", r"\1", double if double is not None else single)
        )
        place = match.end()
    return steps or None


def read_path(state: Any, path: str) -> Any:
    """The value at a path of a state; `_static.MISSING` where there is none. Raises ValueError for what is no path."""
    steps = parse_path(path)
    if steps is None:
        raise ValueError(f"{path} is not a path such as verdict or messages[0]")
    return follow(state, steps)


def follow(state: Any, steps: list[Any]) -> Any:
    """The value where these keys, indexes and field names lead; `_static.MISSING` where there is none."""
    value = state
    for step in steps:
        bases = _static.bases_of(type(value))
        try:
            if dict in bases:
                value = child(value, KEY, step)
            elif type(step) is int:
                value = child(value, INDEX, step)
            else:
                value = child(value, FIELD, step)
        except Gone:
            return _static.MISSING
    return value


def _compare(
    before: Any, after: Any, path: str, found: list[Difference], depth: int, seen: set[tuple[int, int]]
) -> None:
    if before is after or len(found) >= _MOST:
        return
    kind = type(before)
    if kind is not type(after):
        found.append(("changed", path, before, after))
        return
    if id(kind) in _LEAVES:
        if before != after and not (before != before and after != after):
            found.append(("changed", path, before, after))
        return
    pair = (id(before), id(after))
    if depth > _DEPTH or pair in seen:
        return
    seen.add(pair)
    bases = _static.bases_of(kind)
    if dict in bases:
        _compare_pairs(list(dict.items(before)), list(dict.items(after)), KEY, path, found, depth, seen)
    elif list in bases:
        _compare_items(
            list.__getitem__(before, slice(None)), list.__getitem__(after, slice(None)), path, found, depth, seen
        )
    elif tuple in bases:
        _compare_items(
            list(tuple.__getitem__(before, slice(None))),
            list(tuple.__getitem__(after, slice(None))),
            path,
            found,
            depth,
            seen,
        )
    else:
        fields, others = fields_of(before), fields_of(after)
        if fields or others:
            _compare_pairs(list(fields.items()), list(others.items()), FIELD, path, found, depth, seen)
        elif not _alike(before, after):
            found.append(("changed", path, before, after))
    seen.discard(pair)


def _alike(before: Any, after: Any) -> bool:
    """Sets, times, arrays and other things without parts: equal when what is recorded of them is equal."""
    return counts(before) == counts(after) and _encoded(before) == _encoded(after)


def _encoded(value: Any) -> Any:
    from .._values import Settings

    global _settings
    if _settings is None:
        _settings = Settings()
    return _settings.encode(value)


_settings: Any = None


def _compare_pairs(
    before: list[tuple[Any, Any]],
    after: list[tuple[Any, Any]],
    how: str,
    path: str,
    found: list[Difference],
    depth: int,
    seen: set[tuple[int, int]],
) -> None:
    """Keys are looked up by exact plain equality or identity; the app's `__hash__` is not asked."""
    old = {_key(key): (key, item) for key, item in before}
    new = {_key(key): (key, item) for key, item in after}
    for name, (key, item) in new.items():
        below = _below(path, how, key)
        if name in old:
            _compare(old[name][1], item, below, found, depth + 1, seen)
        else:
            found.append(("added", below, None, item))
    for name, (key, item) in old.items():
        if name not in new:
            found.append(("removed", _below(path, how, key), item, None))


def _key(key: Any) -> Any:
    if id(type(key)) in _LEAVES and type(key) is not bytearray:
        return (0, key)
    if type(key) is tuple or type(key) is frozenset:
        plain = (2, _encoded(key))
        try:
            hash(plain)
            return plain
        except TypeError:
            pass
    return (1, id(key))


def _same(before: Any, after: Any) -> bool:
    if before is after:
        return True
    probe: list[Difference] = []
    _compare(before, after, "", probe, _DEPTH - 10, set())
    return not probe


def _compare_items(
    before: list[Any], after: list[Any], path: str, found: list[Difference], depth: int, seen: set[tuple[int, int]]
) -> None:
    """Items of one place are compared; what was put in or taken out in the middle is found by the equal ends."""
    start = 0
    shorter = min(len(before), len(after))
    if len(before) != len(after):
        while start < shorter and _same(before[start], after[start]):
            start += 1
        end = 0
        while end < shorter - start and _same(before[-1 - end], after[-1 - end]):
            end += 1
    else:
        end = 0
    middle_before = before[start : len(before) - end]
    middle_after = after[start : len(after) - end]
    for offset, item in enumerate(middle_after):
        below = f"{path}[{start + offset}]"
        if offset < len(middle_before):
            _compare(middle_before[offset], item, below, found, depth + 1, seen)
        else:
            found.append(("added", below, None, item))
    for offset in range(len(middle_after), len(middle_before)):
        found.append(("removed", f"{path}[{start + offset}]", middle_before[offset], None))
