"""A framework's call that is over keeps nothing of what it worked on, though contexts of tasks that began in it keep the call."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from typing import Any

import pytest
from toolbreak import _boundaries, _calls

pytestmark = pytest.mark.essential


class Big:
    pass


@pytest.mark.parametrize("is_async", [False, True])
def test_values_go_with_the_call(is_async: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "attached", True)
    function = _calls.function("node", "work")
    contexts: list[contextvars.Context] = []
    seen: list[Any] = []

    def invoke(args: dict[str, Any]) -> Any:
        contexts.append(contextvars.copy_context())
        made = Big()
        seen.extend((weakref.ref(args["given"]), weakref.ref(made)))
        return made

    async def ainvoke(args: dict[str, Any]) -> Any:
        return invoke(args)

    def run() -> Any:
        args, state = {"given": Big()}, Big()
        seen.append(weakref.ref(state))
        if is_async:
            return asyncio.run(_boundaries.aexecute(function, args, ainvoke, state=state, state_before=state))  # type: ignore[arg-type]
        return _boundaries.execute(function, args, invoke, state=state, state_before=state)

    assert type(run()) is Big
    gc.collect()
    assert contexts[0].run(_calls.current) is not None
    assert [each() for each in seen] == [None, None, None]
