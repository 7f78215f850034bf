"""What only looks at a dict: its views, and read-only proxies. Found by the garbage collector's way, which runs no code of the app."""

from __future__ import annotations

import gc
import types
from typing import Any

from . import _static

_PARTS = {id(type({}.keys())): 0, id(type({}.values())): 1, id(type({}.items())): 2}
_KINDS = frozenset((*_PARTS, id(types.MappingProxyType)))


def mapping_of(value: Any) -> Any:
    """The dict that a view or a proxy looks at, or None: for all else, and where a proxy looks at a mapping of another kind."""
    if id(type(value)) not in _KINDS:
        return None
    found = gc.get_referents(value)
    return found[0] if len(found) == 1 and dict in _static.bases_of(type(found[0])) else None


def is_proxy(value: Any) -> bool:
    return type(value) is types.MappingProxyType


def part_of(value: Any, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """What a view has of a dict's items."""
    which = _PARTS[id(type(value))]
    return pairs if which == 2 else [pair[which] for pair in pairs]
