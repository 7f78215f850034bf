"""A spool file of states alone, in memory: for tests only."""

from __future__ import annotations

import marshal
from typing import Any

from spool_reader import STATE, resolved
from toolbreak._states import StateEncoder
from toolbreak._values import Settings


class StateFile:
    """A spool file: what was written into it, as its reader sees it."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.encoder = StateEncoder(settings or Settings(seconds=60.0))
        self.numbers: set[int] = set()
        self.kept: dict[int, Any] = {}
        self.size = 0

    def write(self, state: Any) -> Any:
        fresh: list[int] = []
        payload = self.encoder.payload((STATE, 1, 2, "before"), state, self.numbers, fresh)
        self.numbers.update(fresh)
        self.size = len(payload)
        return resolved(marshal.loads(payload), self.kept)[4]
