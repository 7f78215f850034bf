"""What `_compiled` does quicker than Python code, where it was built for this system; None where it was not, and Python code does the same.

`TOOLBREAK_COMPILED=0` in the app's environment leaves it aside. Its source: `runtimes/python/native`.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from zlib import crc32

from . import _report
from ._key import KEY

#: All that a value consists of, kept and compared.
Snapshot: Any = None
#: What a configuration says of values.
Rules: Any = None
#: Stands for a value that is written as the bytes it was made of.
Same: Any = None
#: Stands for a value that is written behind some bytes, and says what it took.
Keep: Any = None
#: Where in a text or bytes a secret may begin; None where Python code is to look.
secret_places: Any = None
#: The part of a segment that appends.
Cursor: Any = None
#: The short way of a guarded function's calls.
Way: Any = None
#: What the short ways of all calls have to know first, and what `Way` has to. How many calls began and ended that way.
prepare_calls: Any = None
prepare_functions: Any = None
calls_taken: Any = None
#: Sets a context variable, and nothing is collected meanwhile.
set_variable: Any = None
#: The begin and the end of a workflow's node, where nothing about them is special, what stands around them and the edge behind it in LangGraph's own
#: code, and what all of it has to know first.
begin_node: Any = None
finish_node: Any = None
run_hook: Any = None
step_hook: Any = None
branch_hook: Any = None
prepare_nodes: Any = None
#: Says of a list's items that they are in the file and the same, as long as they are.
told_items: Any = None
#: How many calls began, ended and were routed that way.
nodes_taken: Any = None
#: Answers what has a function called when Python's own function that runs has returned.
call_soon: Any = None


def _fits() -> bool:
    """
    Whether the file is whole, and made from these sources: one that was copied in part would end the process when it is loaded, and one of earlier
    rules for secrets may let through what they mask now. Free-threaded Pythons find it, too, and lay out their objects in another way.
    """
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    path = os.path.join(os.path.dirname(__file__), "_compiled")
    with open(f"{path}.key", encoding="ascii") as file:
        key, checksum = file.read().split()
    if key != KEY:
        return False
    with open(f"{path}.abi3.so", "rb") as file:
        return f"{crc32(file.read()):08x}" == checksum


if os.environ.get("TOOLBREAK_COMPILED", "") != "0":
    try:
        if _fits():
            from . import _compiled  # type: ignore[attr-defined]

            Snapshot, Rules, Same, Cursor = _compiled.Snapshot, _compiled.Rules, _compiled.Same, _compiled.Cursor
            Way, calls_taken = _compiled.Way, _compiled.calls_taken
            prepare_calls, prepare_functions = _compiled.prepare_calls, _compiled.prepare_functions
            set_variable = _compiled.set_variable
            Keep, secret_places = _compiled.Keep, _compiled.secret_places
            begin_node, finish_node = _compiled.begin_node, _compiled.finish_node
            run_hook, step_hook, branch_hook = _compiled.run_hook, _compiled.step_hook, _compiled.branch_hook
            call_soon, told_items = _compiled.call_soon, _compiled.told_items
            prepare_nodes, nodes_taken = _compiled.prepare_nodes, _compiled.nodes_taken
    except Exception as error:  # Not built, or for another system.
        _report.let_through(error)
