"""Spool files: frames, appended to a mapped file by the thread that has it. The format is in `protocol/spool.ts`; what the frames are is in `_writer`.

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

from . import _report, _standard
from ._call_types import Call
from ._real import Real, thread_name
from ._segments import BEHIND, BIG_ENDIAN, CLOSED, RESERVE, Segment, Slot, store, swapped
from ._values import LARGE, MARSHAL_VERSION, Settings

SPOOL_VERSION = 2
FIRST_SEGMENT = 256 * 1024
#: A thread's files get larger up to this: all of a file is written before it is used, which takes a millisecond then.
LARGEST_SEGMENT = 4 * 1024 * 1024
#: Bytes of spool files of one process that may lie on the disk at a time. A follower makes room by deleting what it has read.
LIMIT = 2 * 1024**3
#: The frames that stand here for themselves.
_SEGMENT, _EVENT = 0, 6
_NO_SPACE = "Recording ended: {reason}. The app goes on without it."

#: For frames that are no call's.
nobody = Call(None, {}, None, 0)  # type: ignore[arg-type]


class Spool:
    """The spool files of one process. Every method may be called from any thread; none raises for a full disk.

    `process` names the files; `problem` gets one sentence when recording has to end.
    """

    # Compiled code finds these at their places.
    __slots__ = ("__dict__", "ended", "known", "local", "settings")

    def __init__(
        self,
        folder: str,
        process: str,
        settings: Settings,
        info: dict[str, Any],
        problem: Callable[[str], None] | None,
        limit: int,
    ) -> None:
        self.folder = folder
        self.process = process
        self.limit = limit
        self._info = info
        self._problem = problem
        self.settings = settings
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

    # ------------------------------------------------------------ appending

    def _append(self, payload: bytes, call: Any = nobody, recorded: int = 0, home: Segment | None = None) -> bool:
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

    # ------------------------------------------------------------ files

    def _next(self, segment: Segment, length: int = 0) -> Segment | None:
        """The segment after this one, in which a frame had no room. Its `length`, if it is not known: what had none where there was some is large."""
        if self.local.segment is not segment or segment.busy:
            return None
        segment.busy = True
        try:
            return self._open(length or (self.settings.largest if segment.end - segment.place > LARGE else LARGE))
        finally:
            segment.busy = False

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
            self.settings.encode(self._info),
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
        """Nothing is written any more, or all of it anew: what was kept for that is not needed."""


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
