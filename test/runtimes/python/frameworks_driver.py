"""Runs an app with the framework plugins and a scenario in place of an adapter; writes what happened as JSON lines.

Usage: frameworks_driver.py <report file> <app> [argument ...]; the scenario is Python source in the variable SCENARIO. It may define
`stop(call, boundary)`, which answers None to run on, or a dict: action, value, step, target, and `edit`, a function of the call.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import sys
from types import SimpleNamespace
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.abspath(os.path.join(HERE, "..", "..", "..", "runtimes", "python"))
sys.path[:1] = [RUNTIME]

from toolbreak import _call_types, _calls, _frameworks, _imports  # noqa: E402


class Report:
    """Stands where the spool writer stands."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "a", encoding="utf-8")

    def say(self, **entry: Any) -> None:
        self.file.write(json.dumps(entry, default=lambda value: type(value).__name__) + "\n")
        self.file.flush()

    def function(self, fn: Any) -> None:
        self.say(what="function", kind=fn.kind, name=fn.name, qualname=fn.qualname, path=fn.path, line=fn.line)

    def task(self, task: Any) -> None:
        pass

    def rename(self, task: Any) -> None:
        pass

    def start(self, call: Any) -> None:
        parent = call.parent
        self.say(
            what="start",
            call=call.number,
            parent=parent.number if parent else 0,
            kind=call.kind,
            name=call.name,
            args={name: plain(value) for name, value in call.args.items()},
            task=call.task.name,
            detail=call.adapter.detail(call) if call.adapter else "",
            attributes=call.attributes,
        )

    def start_lost(self, call: Any) -> None:
        """It notes nothing of what a call is recorded as, so each one that is lost comes here."""

    def started_in(self, call: Any, state: Any) -> None:
        self.start(call)
        self.state(call, "before", state)

    def ended_in(self, call: Any, state: Any) -> None:
        self.state(call, "after", state)
        self.end(call, 0)

    def state(self, call: Any, when: str, state: Any) -> None:
        self.say(what="state", call=call.number, when=when, state=plain(state))

    def end(self, call: Any, status: int) -> None:
        self.say(
            what="end",
            call=call.number,
            kind=call.kind,
            name=call.name,
            status=status,
            result=plain(call.result),
            error=type(call.error).__name__ if call.error else None,
            changes=sorted(call.changes) if call.changes else [],
            attributes=call.attributes,
        )

    def route(self, call: Any, names: Any) -> None:
        self.event("route", call, {"to": list(names)})

    def event(self, name: str, call: Any, data: Any) -> None:
        self.say(what="event", name=name, call=call.number if call else 0, data=data)


def plain(value: Any) -> Any:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return type(value).__name__


def main() -> None:
    report = Report(sys.argv[1])
    scenario: dict[str, Any] = {"report": report}
    exec(os.environ.get("SCENARIO", ""), scenario)
    wanted = scenario.get("stop")

    def decide(call: Any, boundary: str) -> Any:
        if call.forced:
            call.forced = ""
            return None
        answer = wanted(call, boundary) if wanted is not None else None
        if answer is None:
            return None
        stop = _call_types.Stop(boundary, "breakpoint")
        stop.answer = answer  # type: ignore[attr-defined]
        return stop

    def released(call: Any, stop: Any) -> Any:
        answer = getattr(stop, "answer", {})
        report.say(what="held", call=call.number, name=call.name, boundary=stop.boundary, thread=asyncio_task())
        if "edit" in answer:
            try:
                answer["edit"](call)
            except ValueError as error:
                report.say(what="refused", text=str(error))
        return SimpleNamespace(
            action=answer.get("action", "continue"), value=answer.get("value"), step=None, target=None, client="test"
        )

    async def ahold(call: Any, stop: Any) -> Any:
        await asyncio.sleep(0)
        return released(call, stop)

    _calls.decide, _calls.hold, _calls.ahold = decide, released, ahold
    _calls.writer = report
    _calls.attached = True
    _imports.install()
    _frameworks.install()
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


def asyncio_task() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


main()
