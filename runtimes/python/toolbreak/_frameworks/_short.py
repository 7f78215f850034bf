"""The short way of a node's call, for which there is compiled code: nothing about it is special, and nothing stops it.

Compiled code does what `_calls.begin`, `NodeCall`, `_boundaries.leave` and `_calls.end` do together, at once and in a third of the time, or nothing of it.
What is done there has to be done here as well, and the other way round.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .. import _call_types, _calls, _memo, _optional, _report, _short_calls, _states, _stops, _values
from ._node_call import NodeCall, newest
from ._node_info import NodeInfo

_ready: bool | None = None


def of(info: NodeInfo, workflow: _call_types.Function, hook: Callable[[], None]) -> Any:
    """What `begin` needs of a node that runs in this workflow. None: there is no short way. `hook` is called once, before the first one is gone."""
    global _ready
    if info.is_call or info.function.kind != "node":
        return None
    if _ready is None:
        _ready = bool(_report.guard(_prepare))
        if _ready:
            hook()
    return (info.function, workflow, info, info.key) if _ready else None


def _prepare() -> bool:
    from ._node_step import NodeStep
    from ._nodes import Kept

    last_value = getattr(sys.modules.get("langgraph.channels.last_value"), "LastValue", None)
    task = getattr(sys.modules.get("langgraph.types"), "PregelExecutableTask", None)
    if last_value is None or not _short_calls.calls_ready():
        return False
    return bool(
        _optional.prepare_nodes(
            {
                "StepCall": _call_types.StepCall,
                "OuterCall": _call_types.OuterCall,
                "NodeCall": NodeCall,
                "NodeStep": NodeStep,
                "Kept": Kept,
                "PregelExecutableTask": task,
                "Part": _memo.Part,
                "StateEncoder": _states.StateEncoder,
                "Memo": _memo.Memo,
            },
            _stops.decide,
            newest,
            functools.partial,
            last_value,
            _optional.Snapshot,
            _memo.SWEEP,
            _values.HEADS,
            _memo.SMALLEST,
        )
    )


def write(call: _call_types.Call) -> None:
    """Records the start of a call of `begin` that has none yet: its file was full, or something takes a closer look."""
    try:
        if _calls.writer is not None:
            _calls.writer.started_in(call, call.state)
    except Exception as error:
        _report.failure(error)


def _never(*args: Any) -> Any:
    return None


#: (node, given, config, made): `NodeStep._begin` and the boundary before, `node` being what `of` answered; `made` gets the call, too, for whom a signal
#: handler's exception keeps from getting the answer. None: nothing was done. Else see `write`.
begin: Any = _optional.begin_node or _never
#: (call, result): ends a call of `begin` that returned. False: nothing was done.
finish: Any = _optional.finish_node or _never
