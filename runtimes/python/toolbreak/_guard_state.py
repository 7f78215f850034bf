"""The object a guarded function asks: may it run, with which arguments, and what does it return."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Coroutine
from types import CodeType
from typing import TYPE_CHECKING, Any

from . import _boundaries, _call_types, _calls, _quick, _report, _sources
from ._call_types import AGAIN, RAISE, Call, Function, let_go_of_arguments

if TYPE_CHECKING:
    from ._sources import Spot

_frame = sys._getframe


def _ever(*values: Any) -> bool:
    return True


class Guard:
    """`armed` is read by the function itself; everything else happens only while it is true."""

    __slots__ = (
        "_function",
        "_results",
        "always",
        "armed",
        "code",
        "enter",
        "exit",
        "failed",
        "held",
        "in_library",
        "wants",
        "is_async",
        "is_generator",
        "kind",
        "label",
        "leave",
        "live",
        "method",
        "module",
        "names",
        "plain",
        "spot",
        "stash",
    )

    #: What the guarded function lets pass untouched; its own name for it may mean something else.
    too_deep = RecursionError

    def __init__(self, spot: Spot, kind: str) -> None:
        self.armed = False
        #: Every run is a call. Else `wants` is asked, with the arguments: it answers for breakpoints that most runs go past.
        self.always = True
        self.wants: Callable[..., bool] = _ever
        #: A run of this function was held before its first line, so its arguments may be other ones.
        self.held = False
        self.spot = spot
        #: We use that library, too: each run is asked who it is for.
        self.in_library = _sources.is_library(spot.path)
        self.label = spot.name
        self.kind = kind
        self.names: list[str] = []
        self.is_async = False
        self.is_generator = False
        self.code: CodeType | None = None
        self.plain: CodeType | None = None
        self.module = ""
        self.method: bool | None = None
        self._function: Function | None = None
        #: Runs that are calls, by their frames.
        self.live: dict[Any, Call] = {}
        self._results: dict[int, Any] = {}
        self.quick()

    def __reduce__(self) -> Any:
        """A function that is sent to another process by its code takes along what is never armed, and needs nothing of ours there."""
        return type, ("Guard", (object,), {"armed": False})

    def quick(self) -> None:
        """Makes `enter`, `leave`, `exit`, `stash` and `failed`, which know the function's parameters."""
        self.method = None  # The names of the parameters are known by and by.
        self.enter, self.leave, self.exit, self.stash, self.failed = _quick.make(self)

    def forget(self) -> None:
        self._function = None

    def function(self) -> Function:
        found = self._function
        if found is None:
            s = self.spot
            found = self._function = _calls.function(
                self.kind, self.label, qualname=s.qualname, module=self.module, path=s.path, line=s.line, end_line=s.end
            )
        return found

    # ------------------------------------------------------------ before

    def _begin(self, frame: Any, values: tuple[Any, ...]) -> Call | None:
        run = self.live.get(frame)
        if run is not None:  # Once more.
            run.again = run.short = False
            run.raised = run.error = None
            run.stashed = run.result = None
            return run
        if not _calls.attached or (self.in_library and _sources.is_for_us(frame)):
            return None
        current = _calls.current()
        if current is not None:
            if current.quiet or self._is_pending(current, frame.f_code):
                return None
        args = dict(zip(self.names, values))
        if self.is_method():
            del args[self.names[0]]
        call = _calls.begin(self.function(), args, parent=_delegator(frame) if self.is_generator else None)
        call.frame = frame
        call.given = values
        self.live[frame] = call
        return call

    def is_method(self) -> bool:
        """Whether the first argument is the object or class, which is not shown among the arguments."""
        if self.method is None:
            parts = self.spot.qualname.split(".")
            self.method = (
                len(parts) > 1
                and parts[-2] != "<locals>"
                and self.names[:1] in (["self"], ["cls"])
                and not any(
                    isinstance(one, ast.Name) and one.id == "staticmethod" for one in self.spot.node.decorator_list
                )
            )
        return self.method

    def _is_pending(self, call: Call, code: CodeType) -> bool:
        """Whether this run is what a framework's call ends in: one call, not two."""
        pending = call.pending
        if (
            pending is not None
            and pending[1] == code.co_firstlineno
            and pending[2] == code.co_name
            and pending[0] == code.co_filename
        ):
            call.pending = ("", 0, "")
            return True
        spot = self.spot
        if (
            call.frame is None
            and pending is None
            and call.function.path == spot.path
            and spot.first <= call.function.line <= spot.head
        ):
            call.pending = ("", 0, "")
            return True
        return False

    def long_enter(self, frame: Any, values: tuple[Any, ...]) -> bool:
        """Whether the function's body runs. `_quick` makes `enter`, which takes a shorter way where it can."""
        back = _calls.current()
        try:
            run = self._begin(frame, values)
        except RecursionError:
            return True  # The app is at its limit: what it meets there is its own matter.
        except BaseException as error:
            if _report.is_the_apps(error):
                if frame not in self.live:
                    _calls.undo(back)
                raise
            _report.failure(error)
            return True
        if run is None:
            return True
        try:
            going = _boundaries.enter(run, self)
        except BaseException:
            self._lose(frame)
            raise
        if _calls.lets_go and run.recorded:
            let_go_of_arguments(run)
        if not going:
            self._skip(frame, run)
        return going

    def aenter(self, *values: Any) -> Coroutine[Any, Any, bool]:
        return self._aenter(_frame(1), values)

    async def _aenter(self, frame: Any, values: tuple[Any, ...]) -> bool:
        back = _calls.current()
        try:
            run = self._begin(frame, values)
        except RecursionError:
            return True  # The app is at its limit: what it meets there is its own matter.
        except BaseException as error:
            if _report.is_the_apps(error):
                if frame not in self.live:
                    _calls.undo(back)
                raise
            _report.failure(error)
            return True
        if run is None:
            return True
        try:
            going = await _boundaries.aenter(run, self)
        except BaseException:
            self._lose(frame)
            raise
        if _calls.lets_go and run.recorded:
            let_go_of_arguments(run)
        if not going:
            self._skip(frame, run)
        return going

    def _skip(self, frame: Any, run: Call) -> None:
        self._results[id(frame)] = run.result
        self.live.pop(frame, None)

    def edited(self) -> bool:
        """Asked where `held` is true: whether a person changed the arguments."""
        run = self.live.get(_frame(1))
        if run is None:
            return False
        args = run.args
        for name, value in zip(self.names, run.given or tuple(args.values())):
            if args.get(name, value) is not value:
                return True
        return False

    def values(self) -> tuple[Any, ...]:
        run = self.live[_frame(1)]
        args = run.args
        given = run.given or tuple(args.values())
        if len(given) != len(self.names):  # Nobody was there who could look, and somebody came.
            now = _frame(1).f_locals
            given = tuple([now.get(name) for name in self.names])
        run.given = tuple([args.get(name, value) for name, value in zip(self.names, given)])
        return run.given

    # ------------------------------------------------------------ inside

    def long_stash(self, value: Any) -> Any:
        """What is about to be returned. `leave` says it where that is for certain, and ends the call by itself if it can."""
        run = self.live.get(_frame(1))
        if run is not None:
            run.stashed = value
        return value

    def suspend(self, value: Any) -> Any:
        run = self.live.get(_frame(1))
        if run is not None:
            _calls.suspend(run)
        return value

    def resume(self, value: Any) -> Any:
        run = self.live.get(_frame(1))
        if run is not None:
            _calls.resume(run)
        return value

    def thrown(self) -> None:
        """`resume` where an exception comes out of the `yield`: the app's handlers run next."""
        try:
            run = self.live.get(_frame(1))
            if run is not None:
                _calls.resume(run)
        except RecursionError:
            pass  # No room for us; what was thrown goes on alone.

    # ------------------------------------------------------------ after

    def long_failed(self) -> None:
        try:
            run = self.live.get(_frame(1))
            if run is not None:
                run.raised = sys.exc_info()[1]
        except RecursionError:
            pass  # No room for us; the app's own error goes on alone.

    def long_exit(self, frame: Any) -> bool:
        """True where the function must not end as its body did: it runs again, or returns another result."""
        run = self.live.get(frame)
        if run is None:
            return False
        try:
            error = run.raised
            if error is not None:
                return self._settle(frame, run, _boundaries.fail(run, error))
            return self._settle(frame, run, AGAIN if not _boundaries.leave(run, run.stashed) else _call_types.RETURN)
        except RecursionError:
            self.live.pop(frame, None)
            return False
        except BaseException as problem:
            if _report.is_the_apps(problem):
                raise  # `lost` ends the run.
            return self._broken(frame, run, problem)

    def aexit(self) -> Coroutine[Any, Any, bool]:
        return self._aexit(_frame(1))

    async def _aexit(self, frame: Any) -> bool:
        run = self.live.get(frame)
        if run is None:
            return False
        try:
            error = run.raised
            if error is not None:
                verdict = (
                    _boundaries.fail(run, error)
                    if _boundaries._is_end(run, error)
                    else await _boundaries.afail(run, error)
                )
                return self._settle(frame, run, verdict)
            return self._settle(
                frame, run, AGAIN if not await _boundaries.aleave(run, run.stashed) else _call_types.RETURN
            )
        except RecursionError:
            self.live.pop(frame, None)
            return False
        except BaseException as problem:
            if _report.is_the_apps(problem):
                raise  # `lost` ends the run.
            return self._broken(frame, run, problem)

    def _settle(self, frame: Any, run: Call, verdict: int) -> bool:
        if verdict == AGAIN:
            run.again = self.held = True
            return True
        raised, stashed = run.raised, run.stashed
        result = run.result
        run.let_go()
        other = verdict != RAISE and not (raised is None and result is stashed)
        if other:
            self._results[id(frame)] = result
        del self.live[frame]
        run.raised = run.stashed = None
        return other

    def _broken(self, frame: Any, run: Call, problem: BaseException) -> bool:
        self.live.pop(frame, None)
        if problem is not run.raised:
            _report.failure(problem)
        return False

    def lost(self) -> None:
        """The function ends with an exception: nothing may be left of a run whose end did not come through."""
        self.lose(_frame(1))

    def lose(self, frame: Any) -> None:
        try:
            self._lose(frame)
        except BaseException:
            self._lose(frame)
            raise

    def _lose(self, frame: Any) -> None:
        self._results.pop(id(frame), None)
        run = self.live.get(frame)
        if run is not None:
            _calls.lose(run)
            run.let_go()
            run.raised = run.stashed = None
            self.live.pop(frame, None)

    def again(self) -> bool:
        run = self.live.get(_frame(1))
        return run is not None and run.again

    def result(self) -> Any:
        return self._results.pop(id(_frame(1)), None)

    def forked(self) -> None:
        self.live.clear()


def _delegator(frame: Any) -> Call | None:
    """The call of a generator that gave itself up to this one by `yield from`. It waits meanwhile, and is not the current one."""
    back = frame.f_back
    if back is None or not back.f_code.co_flags & 0x20:
        return None
    for constant in back.f_code.co_consts:
        if type(constant) is Guard:
            run = constant.live.get(back)
            return run if run is not None and run.suspended and not run.ended else None
    return None
