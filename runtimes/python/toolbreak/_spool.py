"""Spool files: what is recorded, appended to a mapped file by the thread that has it. The format is in `protocol/spool.ts`.

An append makes no system call and takes no lock: it copies into this thread's segment and stores the frame's length last. Appends never nest;
what a signal handler or a finaliser records in the middle of one waits until that one is done.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable
from marshal import dumps
from typing import Any
from zlib import crc32

from . import _optional, _report, _standard
from ._call_types import Call, nowhere
from ._large import LargeValues, is_noted
from ._real import Real, thread_name
from ._segments import BEHIND, BIG_ENDIAN, CLOSED, RESERVE, Segment, Slot, store, swapped
from ._states import StateEncoder, has_parts
from ._values import HEADS, LARGE, MARSHAL_VERSION, Settings

SPOOL_VERSION = 2
FIRST_SEGMENT = 256 * 1024
#: A thread's files get larger up to this: all of a file is written before it is used, which takes a millisecond then.
LARGEST_SEGMENT = 4 * 1024 * 1024
#: Bytes of spool files of one process that may lie on the disk at a time. A follower makes room by deleting what it has read.
LIMIT = 2 * 1024**3
_SEGMENT, _FUNCTION, _TASK, _START, _END, _STATE, _EVENT, _RENAME = range(8)
#: What `Segment.put` answers where not everything is plain, and where the next segment is to be opened.
_NOT_PLAIN, _NO_ROOM = 1, 2
_NO_SPACE = "Recording ended: {reason}. The app goes on without it."


_INTERRUPTED = (..., "opaque", "", "", "the app interrupted its recording")

_nobody = Call(None, {}, None, 0)  # type: ignore[arg-type]


class Writer:
    """Appends the frames of one process. Every method may be called from any thread; none raises for a full disk or an odd value.

    `process` names the files; `problem` gets one sentence when recording has to end.
    """

    # Compiled code finds these at their places.
    __slots__ = ("__dict__", "_routes", "_states", "ended", "known", "local", "settings")

    def __init__(
        self,
        folder: str,
        process: str,
        settings: Settings | None = None,
        info: dict[str, Any] | None = None,
        problem: Callable[[str], None] | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.folder = folder
        self.process = process
        self.limit = limit
        self._info = info or {}
        self._problem = problem
        self.settings = settings if settings is not None else Settings()
        self.configure(self.settings)
        self._begin()

    def _begin(self) -> None:
        self.local = threading.local()
        self._numbers = itertools.count(1)
        self._free: list[Segment] = []
        #: Those that are not closed.
        self._mapped: list[Segment] = []
        self._bytes = 0
        #: Ids whose Function or Task frame is written. Task ids are negative. Functions and tasks that have this very set as their `known`
        #: are in it.
        self.known: set[int] = set()
        self.ended = False

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
            if self.settings.rules is None or not self._put((_EVENT, now, "route", call.number, known[1]), _nobody, 0):
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
        call: Any = _nobody,
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

    def _next(self, segment: Segment, length: int = 0) -> Segment | None:
        """The segment after this one, in which a frame had no room. Its `length`, if it is not known: what had none where there was some is large."""
        if self.local.segment is not segment or segment.busy:
            return None
        segment.busy = True
        try:
            return self._open(length or (self.largest if segment.end - segment.place > LARGE else LARGE))
        finally:
            segment.busy = False

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

    def _append(self, payload: bytes, call: Any = _nobody, recorded: int = 0, home: Segment | None = None) -> bool:
        """
        Appends a frame. `call.recorded` is `recorded` from the moment on from which nothing can keep the frame from being read.
        `home`: nowhere but at the next place of this segment; False: that was not possible, and nothing was written.
        """
        try:
            segment = self.local.segment
        except AttributeError:
            if getattr(self.local, "opening", False):
                call.recorded = recorded
                self.local.waiting.append(payload)
                return True
            segment = self._open_first(len(payload))
            if segment is None:
                return True
        if home is not None and (segment is not home or segment.busy):
            return False
        if segment.busy:
            call.recorded = recorded
            segment.waiting.append(payload)
            return True
        segment.busy = True
        try:
            length = len(payload)
            if segment.place + 8 + length > segment.end:
                if home is not None:
                    return False
                fresh = self._open(length)
                if fresh is None:
                    return True
                segment = fresh
                segment.busy = True
            checksum, size = crc32(payload), length
            if BIG_ENDIAN:
                checksum, size = swapped(checksum), swapped(size)
            # Nothing is called and nothing jumps from here on, so no signal handler can raise before the frame is whole: what it would leave
            # behind the place of a shorter next frame would be read as one.
            place = segment.place
            after = place + 8 + length
            word = place >> 2
            segment.map[place + 8 : after] = payload
            segment.checksums[word] = checksum
            segment.words[word] = size
            segment.place = (after + 3) & -4
            call.recorded = recorded
        finally:
            segment.busy = False
        if segment.waiting:
            self.drain(segment)
        return True

    def _append_both(self, first: bytes, second: bytes, segment: Segment, call: Any, recorded: int) -> bool:
        """`_append` of two frames that belong together, nowhere but at the next place of this segment. False: nothing was written."""
        if self.local.segment is not segment or segment.busy or BIG_ENDIAN:
            return False
        segment.busy = True
        try:
            place = segment.place
            size = len(first)
            middle = (place + 11 + size) & -4
            length = len(second)
            after = middle + 8 + length
            if after > segment.end:
                return False
            checksum, other = crc32(first), crc32(second)
            # As there: nothing is called from here on. A reader sees none of them before the length of the first.
            segment.map[middle + 8 : after] = second
            segment.map[place + 8 : place + 8 + size] = first
            word = middle >> 2
            segment.checksums[word] = other
            segment.words[word] = length
            word = place >> 2
            segment.checksums[word] = checksum
            segment.words[word] = size
            segment.place = (after + 3) & -4
            call.recorded = recorded
        finally:
            segment.busy = False
        if segment.waiting:
            self.drain(segment)
        return True

    def drain(self, segment: Segment) -> None:
        """Appends what came in the middle of an append."""
        while segment.waiting:
            self._append(segment.waiting.pop(0))

    def _open_first(self, length: int) -> Segment | None:
        """`_open` of a thread that has no segment yet. What a signal handler records meanwhile waits: its own would be interrupted by the next one."""
        local = self.local
        local.opening = True
        if not hasattr(local, "waiting"):  # Else a handler has raised in the middle of an earlier one.
            local.waiting = []
        try:
            return self._open(length)
        finally:
            local.opening = False

    def _open(self, length: int) -> Segment | None:
        """This thread's next segment, with room for a payload of this length; None when recording has ended."""
        if self.ended:
            return None
        local = self.local
        first = not hasattr(local, "segment")
        if first:
            local.slot = Slot(self._free)
            while self._free:
                try:
                    segment = self._free.pop()
                except IndexError:
                    break
                if not segment.busy and segment.place + 8 + length <= segment.end:
                    segment.waiting = local.waiting
                    local.slot.segment = local.segment = segment
                    return segment
        needed = length + RESERVE + 8192
        size = FIRST_SEGMENT if first else min(4 * local.segment.size, LARGEST_SEGMENT)
        if size < needed:
            size = -(-needed // LARGEST_SEGMENT) * LARGEST_SEGMENT
        try:
            if self._bytes + size + BEHIND > self.limit:
                self._recount()
                # The last segment takes what is left.
                size = min(size, (self.limit - self._bytes - BEHIND) & -4096)
                if size < needed:
                    self._stop(f"nothing read the recording and it reached {self.limit >> 20} MB")
                    return None
            header = self._header()
            segment = Segment(f"{self.folder}{os.sep}{self.process}-{next(self._numbers)}.spool", size, self.known)
        except Exception as error:
            _report.let_through(error)
            self._stop(f"the spool file could not be written ({_reason(error)})")
            return None
        self._mapped.append(segment)
        self._bytes += size + BEHIND
        old = getattr(local, "segment", None)
        store(segment, header)
        if old is None:
            segment.waiting = local.waiting
            local.slot.segment = local.segment = segment
        else:
            segment.waiting, old.waiting = old.waiting, segment.waiting
            old.busy = False
            # Says that nothing follows here, so that the follower may delete the file while the run goes on.
            old.words[old.place >> 2] = CLOSED
            local.slot.segment = local.segment = segment
            self._mapped[:] = [each for each in self._mapped if each is not old]
            old.close()
        return segment

    def _header(self) -> bytes:
        header = (
            _SEGMENT,
            SPOOL_VERSION,
            self.process,
            Real.getpid(),
            Real.getppid(),
            Real.thread_id(),
            self.settings.masking.text(thread_name()),
            Real.time_ns(),
            Real.monotonic_ns(),
            self._encode(self._info),
        )
        return dumps(header, MARSHAL_VERSION)

    def _recount(self) -> None:
        """Counts what still lies on the disk."""
        glob = _standard.module("glob")

        total = 0
        for path in glob.glob(os.path.join(glob.escape(self.folder), glob.escape(self.process) + "-*.spool")):
            try:
                total += os.stat(path).st_size
            except OSError as error:
                _report.let_through(error)
        self._bytes = total

    def _stop(self, reason: str) -> None:
        """Ends the recording with a mark in every segment of this thread's reach, and one sentence."""
        if self.ended:
            return
        self.ended = True
        self._forget()
        sentence = _NO_SPACE.format(reason=reason)
        segment = getattr(self.local, "segment", None)
        if segment is not None:
            payload = dumps((_EVENT, Real.monotonic_ns(), "mark", 0, {"text": sentence[:300]}), MARSHAL_VERSION)
            if segment.place + 8 + len(payload) <= segment.size:
                store(segment, payload)
        if self._problem is not None:
            try:
                self._problem(sentence)
            except Exception as error:
                _report.let_through(error)
        else:
            try:
                print(f"toolbreak: {sentence}", file=sys.stderr)
            except Exception as error:
                _report.let_through(error)

    # ------------------------------------------------------------ life

    def close(self) -> None:
        """Ends the recording in order. Threads that still run keep their mapping until they look again."""
        self.ended = True
        self._forget()

    def has_begun(self) -> bool:
        """Whether this process has recorded anything."""
        return bool(self._mapped)

    def let_go(self) -> None:
        """The program ends: no value is kept alive. What is recorded yet is written in full."""
        self._states.let_go()
        self.large.let_go()
        self._keep_taken()

    def _keep_taken(self) -> None:
        """Mappings go with the process, or in a forked child at once: what the app has closed of them is its own."""
        for segment in self._mapped:
            segment.keep_if_taken()

    def after_fork(self, process: str, **info: Any) -> None:
        """In a forked child: the parent's files are the parent's; this process opens its own when it has something to record."""
        ended = self.ended
        self.process = process
        self._info = {**self._info, **info}
        self._keep_taken()
        self._begin()
        self._forget()
        self.ended = ended

    def _forget(self) -> None:
        self._states.forget()
        self.large.forget()


def _is_inside(call: Any) -> bool:
    """Whether it runs within another workflow."""
    above = call.parent
    while above is not None and above.function.kind != "workflow":
        above = above.parent
    return above is not None


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
