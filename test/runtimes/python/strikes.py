"""For apps under test: a signal handler that raises at one after the other of the places where the interpreter may run it amid our code."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import toolbreak

OURS = os.path.dirname(str(toolbreak.__file__)) + os.sep
#: After these the interpreter looks whether a signal came; before Python 3.11 after each jump back.
LOOKS = (
    "CALL",
    "JUMP_BACKWARD",
    "JUMP_ABSOLUTE",
    "POP_JUMP_BACKWARD",
    *(("POP_JUMP_IF", "JUMP_IF") if sys.version_info < (3, 11) else ()),
)


class Late(OSError):
    """What the handler raises."""


def handler(number: int, frame: FrameType) -> None:
    raise Late("now")


class Strikes:
    """
    Strikes while `run` runs: in our own code, and after the instructions of the functions of which `guards` says that they carry code of ours.
    """

    def __init__(self, run: Callable[[], object], guards: Callable[[CodeType], bool] = lambda code: False) -> None:
        self._run = run
        self._guards = guards
        self._looks: dict[CodeType, frozenset[int]] = {}
        self._last: dict[FrameType, bool] = {}
        self._left = 0
        #: Whether the interpreter tells of each instruction from a first run on.
        self._told = False
        #: Where the last one struck.
        self.where = ""

    def strike(self, place: int) -> bool | None:
        """Whether what the handler raised at that place, from 1 on, came out of the run; None where the run has fewer places."""
        self._left = 0
        came = False
        self._last.clear()
        sys.settrace(self._trace)
        try:
            if not self._told:
                # Python 3.12 tells of instructions from the next `settrace` on, 3.13 after each one from a function's next run on.
                self._run()
                self._told = sys.version_info < (3, 13)
                if self._told:
                    sys.settrace(None)
                    sys.settrace(self._trace)
            self._left = place
            self._run()
        except Late:
            came = True
        finally:
            sys.settrace(None)
        return None if self._left > 0 else came

    def _trace(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        looks = False
        if event == "opcode":
            looks = self._last.get(frame, False)
            self._last[frame] = frame.f_lasti in self._looks[code]
        elif event == "call":
            looks = code.co_filename.startswith(OURS)
            if not looks and not self._guards(code):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            if code not in self._looks:
                self._looks[code] = frozenset(
                    each.offset
                    for each in dis.get_instructions(code)
                    if each.opname.startswith(LOOKS) and not each.opname.startswith("CALL_INTRINSIC")
                )
        if looks:
            self._left -= 1
            if self._left == 0:
                self.where = f"{os.path.basename(code.co_filename)} {code.co_name} line {frame.f_lineno}"
                handler(14, frame)
        return self._trace
