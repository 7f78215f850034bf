"""What is recorded: the frames of calls, states and events, as `protocol/spool.ts` has them. Where they are appended is in `_spool`."""

from __future__ import annotations

from collections.abc import Callable
from marshal import dumps
from typing import Any

from . import _optional, _report
from ._call_types import nowhere
from ._large import LargeValues, is_noted
from ._real import Real
from ._spool import LIMIT, Spool, nobody
from ._states import StateEncoder, has_parts
from ._values import HEADS, LARGE, MARSHAL_VERSION, Settings

_FUNCTION, _TASK, _START, _END, _STATE, _EVENT, _RENAME = range(1, 8)
#: What `Segment.put` answers where not everything is plain, and where the next segment is to be opened.
_NOT_PLAIN, _NO_ROOM = 1, 2
_INTERRUPTED = (..., "opaque", "", "", "the app interrupted its recording")


class Writer(Spool):
    """Appends the frames of one process. Every method may be called from any thread; none raises for a full disk or an odd value."""

    # Compiled code finds these at their places.
    __slots__ = ("_routes", "_states")

    def __init__(
        self,
        folder: str,
        process: str,
        settings: Settings | None = None,
        info: dict[str, Any] | None = None,
        problem: Callable[[str], None] | None = None,
        limit: int = LIMIT,
    ) -> None:
        settings = settings if settings is not None else Settings()
        super().__init__(folder, process, settings, info or {}, problem, limit)
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """What is recorded from now on."""
        self.settings = settings
        self._encode = settings.encode
        self.largest = settings.largest
        self._states = StateEncoder(settings)
        self.large = LargeValues(settings)
        #: What an edge chose, encoded; for compiled code with a mark of it.
        self._routes: dict[tuple[str, ...], tuple[bytes, Any]] = {}

    # ------------------------------------------------------------ frames

    def function(self, function: Any) -> None:
        self._put_plain(
            (
                _FUNCTION,
                function.id,
                function.kind,
                function.name,
                function.qualname,
                function.module,
                function.path,
                function.line,
                function.end_line,
            )
        )
        self.known.add(function.id)
        # The values of these two may be states, which only this class writes.
        if function.kind != "workflow" and function.kind != "node":
            function.known = self.known

    def task(self, task: Any) -> None:
        parent = task.parent
        self._put_plain((_TASK, task.id, self.settings.masking.text(task.name), 0 if parent is None else parent.id))
        self.known.add(-task.id)
        task.known = self.known

    def rename(self, task: Any) -> None:
        self._put_plain((_RENAME, task.id, self.settings.masking.text(task.name)))

    def start(self, call: Any) -> None:
        if self.ended:
            return
        function = call.function
        task = call.task
        known = self.known
        if function.id not in known:
            self.function(function)
        if -task.id not in known:
            self.task(task)
        parent = call.parent
        attributes = call.attributes
        encode = self._encode
        if attributes:
            call.told = len(attributes)
        above = 0 if parent is None else parent.number
        head = (_START, call.number, above, function.id, task.id, call.started_ns)
        if function.kind == "workflow":
            # Its input is what its first state begins with.
            if not self._put_state(head, call.args, attributes, call, 1):
                told = encode(attributes) if attributes else None
                self._append_state(head, call.args, (told,), True, call=call, recorded=1)
            return
        settings = self.settings
        if function.kind == "llm" and settings.references and _is_inside(call):
            # Its messages are the state's.
            self._append_state(head, call.args, (encode(attributes) if attributes else None,), call=call, recorded=1)
            return
        if settings.noted and function.kind != "node" and is_noted(settings, call.args.values()):
            if self._append_large(head, call.args, True, attributes, call, 1):
                return
        if settings.rules is not None and self._put((*head, call.args, attributes or None), call, 1):
            return
        told = None
        if attributes:
            told = self._states.attributes(attributes) if function.kind == "node" else encode(attributes)
        frame = (*head, encode(call.args), told)
        payload = dumps(frame, 2)
        if LARGE < len(payload) <= self.largest:
            self.large.note(call.args, frame[6], True)
        self._append(payload if len(payload) <= self.largest else self._bounded(frame, 6, call.args), call, 1)

    def start_lost(self, call: Any) -> None:
        """The start of a call whose arguments were just being written when the app raised in between: what it called meanwhile stands below it."""
        if self.ended:
            return
        function, task, parent = call.function, call.task, call.parent
        if function.id not in self.known:
            self.function(function)
        if -task.id not in self.known:
            self.task(task)
        args = {self.settings.masking.text(name): _INTERRUPTED for name in call.args if type(name) is str}
        above = 0 if parent is None else parent.number
        frame = (_START, call.number, above, function.id, task.id, call.started_ns, args, None)
        self._append(dumps(frame, MARSHAL_VERSION), call, 1)

    def end(self, call: Any, status: int) -> None:
        """`status` as CallStatus; the value is the error for 1 and 2, the result otherwise."""
        if self.ended:
            return
        attributes = call.attributes
        encode = self._encode
        value = call.error if status == 1 or status == 2 else call.result
        more = attributes if attributes and len(attributes) != getattr(call, "told", -1) else None
        kind = call.function.kind
        if kind == "workflow":
            head = (_END, call.number, Real.monotonic_ns(), status)
            if not self._put_state(head, value, more, call, 2):
                self._append_state(head, value, (encode(more) if more else None,), call=call, recorded=2)
            if not _is_inside(call):
                self._states.forget()
            return
        settings = self.settings
        if settings.noted and kind != "node" and is_noted(settings, (value,)):
            if self._append_large((_END, call.number, Real.monotonic_ns(), status), value, False, more, call, 2):
                return
        if (
            settings.rules is not None
            and (kind != "node" or not has_parts(value))
            and self._put((_END, call.number, Real.monotonic_ns(), status, value, more), call, 2)
        ):
            return
        told = encode(more) if more else None
        if kind == "node" and has_parts(value):
            self._append_state((4, call.number, Real.monotonic_ns(), status), value, (told,), call=call, recorded=2)
            return
        frame = (4, call.number, Real.monotonic_ns(), status, encode(value), told)
        payload = dumps(frame, 2)
        if LARGE < len(payload) <= self.largest:
            self.large.note(value, frame[4], False)
        self._append(payload if len(payload) <= self.largest else self._bounded(frame, 4, value), call, 2)

    def started_in(self, call: Any, state: Any) -> None:
        """`start`, and the workflow's state that the call begins with."""
        if self.ended:
            return
        function = call.function
        task = call.task
        segment: Any = getattr(self.local, "segment", nowhere)
        known = self.known
        if segment.known is not known or segment.busy or function.id not in known or -task.id not in known:
            self.start(call)
            self.state(call, "before", state)
            return
        parent = call.parent
        states = self._states
        attributes = call.attributes
        call.told = len(attributes)
        args = call.args
        number = call.number
        started = call.started_ns
        head = (_START, number, 0 if parent is None else parent.number, function.id, task.id, started)
        rules = self.settings.rules
        if rules is not None:
            plain = states.plain(state, segment.kept)
            if plain is not None:
                if not segment.put(
                    rules,
                    call,
                    1,
                    (*head, args, attributes or None),
                    (_STATE, number, started, "before", plain[0]),
                    plain[1] + HEADS,
                ):
                    states.written()
                    if segment.waiting:
                        self.drain(segment)
                    return
        told = states.attributes(attributes) if attributes else None
        first = dumps((*head, self._encode(args) if args else args, told), 2)
        fresh: list[int] = []
        second = states.payload((_STATE, number, started, "before"), state, segment.kept, fresh)
        if len(first) <= self.largest and self._append_both(first, second, segment, call, 1):
            if fresh:
                segment.kept.update(fresh)
        else:
            self.start(call)
            self.state(call, "before", state)

    def ended_in(self, call: Any, state: Any) -> None:
        """`end` of a call that returned, and the workflow's state that it leaves."""
        if self.ended:
            return
        segment: Any = getattr(self.local, "segment", nowhere)
        if segment.known is not self.known or segment.busy or call.function.kind != "node":
            self.state(call, "after", state)
            self.end(call, 0)
            return
        states = self._states
        attributes = call.attributes
        result = call.result
        now = Real.monotonic_ns()
        rules = self.settings.rules
        if rules is not None and not has_parts(result):
            plain = states.plain(state, segment.kept)
            if plain is not None:
                number = call.number
                more = attributes if attributes and len(attributes) != call.told else None
                if not segment.put(
                    rules,
                    call,
                    2,
                    (_STATE, number, now, "after", plain[0]),
                    (_END, number, now, 0, result, more),
                    plain[1] + HEADS,
                ):
                    states.written()
                    if segment.waiting:
                        self.drain(segment)
                    return
        fresh: list[int] = []
        first = states.payload((_STATE, call.number, now, "after"), state, segment.kept, fresh)
        told = self._encode(attributes) if attributes and len(attributes) != call.told else None
        if type(result) is dict and result:
            second = states.payload((_END, call.number, now, 0), result, segment.kept, fresh, (told,))
        else:
            second = dumps((_END, call.number, now, 0, self._encode(result), told), 2)
        if len(second) <= self.largest and self._append_both(first, second, segment, call, 2):
            if fresh:
                segment.kept.update(fresh)
        else:
            self.state(call, "after", state)
            self.end(call, 0)

    def state(self, call: Any, which: str, value: Any) -> None:
        """The workflow's state around a node; `which` is "before" or "after"."""
        if self.ended:
            return
        self._append_state((5, call.number, Real.monotonic_ns(), which), value)

    def event(self, name: str, call: Any, data: dict[str, Any] | None = None) -> None:
        """Its names are in `protocol/spool.ts`. `call` may be None."""
        if self.ended:
            return
        frame = (_EVENT, Real.monotonic_ns(), name, 0 if call is None else call.number, self._encode(data or {}))
        payload = dumps(frame, MARSHAL_VERSION)
        self._append(payload if len(payload) <= self.largest else self._bounded(frame, 4, data))

    def route(self, call: Any, names: tuple[str, ...]) -> None:
        """The event of an edge that chose nodes. Their names come again and again."""
        for name in names:
            if type(name) is not str:  # It may have a hash of its own.
                return self.event("route", call, {"to": list(names)})
        known = self._routes.get(names)
        if known is None:
            self.event("route", call, {"to": list(names)})
            encoded = dumps(self._encode({"to": list(names)}), MARSHAL_VERSION)
            if len(self._routes) < 1000 and len(encoded) < 1000:
                self._routes[names] = (encoded, None if _optional.Same is None else _optional.Same(encoded))
        elif not self.ended:
            now = Real.monotonic_ns()
            if self.settings.rules is None or not self._put((_EVENT, now, "route", call.number, known[1]), nobody, 0):
                self._append(dumps((_EVENT, now, "route", call.number, None), MARSHAL_VERSION)[:-1] + known[0])

    def _bounded(self, frame: tuple[Any, ...], place: int, value: Any) -> bytes:
        """The frame again, with the value at `place` walked under its budget."""
        return dumps((*frame[:place], self.settings.bounded(value), *frame[place + 1 :]), MARSHAL_VERSION)

    def _put_plain(self, frame: tuple[Any, ...]) -> None:
        if not self.ended:
            self._append(dumps(frame, MARSHAL_VERSION))

    def _put(self, frame: tuple[Any, ...], call: Any, recorded: int) -> bool:
        """Appends a frame of values as they are, where nothing in them takes a closer look. False: nothing was written. Compiled code does it."""
        segment = getattr(self.local, "segment", None)
        if segment is None:
            return False
        done = segment.put(self.settings.rules, call, recorded, frame)
        if done == _NO_ROOM and (fresh := self._next(segment)) is not None:
            segment = fresh
            done = segment.put(self.settings.rules, call, recorded, frame)
        if done:
            return False
        if segment.waiting:
            self.drain(segment)
        return True

    # ------------------------------------------------------------ appending

    def _append_state(
        self,
        head: tuple[Any, ...],
        value: Any,
        tail: tuple[Any, ...] = (),
        returns: bool = False,
        call: Any = nobody,
        recorded: int = 0,
    ) -> None:
        """Appends `(*head, value, *tail)`, with references to what this thread's file has already."""
        states = self._states
        segment = getattr(self.local, "segment", None)
        if segment is not None and not segment.busy:
            fresh: list[int] = []
            payload = states.payload(head, value, segment.kept, fresh, tail, returns)
            if self._append(payload, call, recorded, segment):
                segment.kept.update(fresh)
                return
        # There is no such file, or no room in it: all of it, wherever there is room.
        self._append(states.payload(head, value, tail=tail), call, recorded)

    def _put_state(self, head: tuple[Any, ...], value: Any, attributes: Any, call: Any, recorded: int) -> bool:
        """Appends `(*head, value, attributes)`, the start or the end of a workflow, by compiled code. False: nothing was written."""
        rules = self.settings.rules
        segment = getattr(self.local, "segment", None)
        if rules is None or segment is None or segment.busy:
            return False
        states = self._states
        for _ in range(2):
            try:
                if recorded == 1:
                    marked = states.first(value, segment.kept)
                else:
                    plain = states.plain(value, segment.kept)
                    marked = None if plain is None else (*plain, [])
            except Exception as error:
                _report.let_through(error)
                return False  # Another thread changes it just now: the whole walk decides.
            if marked is None:
                return False
            out, size, keeps = marked
            done = segment.put(rules, call, recorded, (*head, out, attributes or None), None, size + HEADS, False)
            if not done:
                states.keep(keeps, segment.kept)
                if segment.waiting:
                    self.drain(segment)
                return True
            if done != _NO_ROOM or (segment := self._next(segment)) is None:
                return False
        return False

    def _append_large(
        self, head: tuple[Any, ...], value: Any, is_fields: bool, attributes: Any, call: Any, recorded: int
    ) -> bool:
        """Appends `(*head, value, attributes)`, with references to what this thread's file has already. False: nothing was written."""
        segment = getattr(self.local, "segment", None)
        large = self.large
        for _ in range(2):
            if segment is None or segment.busy:
                return False
            try:
                done = _NOT_PLAIN
                if self.settings.rules is not None:
                    done = large.put(segment, head, value, is_fields, attributes, call, recorded)
                made = None
                if done == _NOT_PLAIN:
                    told = self._encode(attributes) if attributes else None
                    made = large.payload(head, value, is_fields, told, segment.kept)
            except Exception as error:
                _report.let_through(error)
                return False  # Another thread changes it just now: the whole walk decides.
            if not done:
                if segment.waiting:
                    self.drain(segment)
                return True
            if done == _NOT_PLAIN:
                if made is None:
                    return False
                if self._append(made[0], call, recorded, segment):
                    large.written(made[1], segment.kept)
                    return True
            segment = self._next(segment, self.largest)
        return False

    # ------------------------------------------------------------ life

    def let_go(self) -> None:
        """The program ends: no value is kept alive. What is recorded yet is written in full."""
        self._states.let_go()
        self.large.let_go()
        self._keep_taken()

    def _forget(self) -> None:
        self._states.forget()
        self.large.forget()


def _is_inside(call: Any) -> bool:
    """Whether it runs within another workflow."""
    above = call.parent
    while above is not None and above.function.kind != "workflow":
        above = above.parent
    return above is not None
