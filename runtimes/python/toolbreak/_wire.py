"""JSON lines over a socket. App threads never wait for it: what does not fit is queued for the control thread."""

from __future__ import annotations

import _socket
import json
import select
from collections import deque
from typing import Any

from . import _report
from ._real import Real, file_of

#: Messages that wait; what can be left out is, when there are more.
_LONGEST_QUEUE = 2000
#: What the end of the process may wait for those that wait, in seconds.
_LONGEST_DRAIN = 5.0
#: Time in which a thread that is just writing is looked after, in seconds; it waits for nothing itself.
_A_MOMENT = 0.02
#: The same, where nobody waits but the control thread.
PATIENTLY = 0.5


class _Awaited(bytes):
    """A line whose sender wants to know when the socket took all of it."""

    written = False


class Wire:
    """Raises OSError with the system's own text when nobody listens."""

    def __init__(self, address: str, seconds: float) -> None:
        host, _, port = address.rpartition(":")
        if port.isdigit() and host and "/" not in address:
            host = host.strip("[]")
            self._socket = Real.socket(_socket.AF_INET6 if ":" in host else _socket.AF_INET, _socket.SOCK_STREAM)
            self._socket.settimeout(seconds)
            self._socket.connect((host, int(port)))
            self._socket.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        else:
            self._socket = Real.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            self._socket.settimeout(seconds)
            self._socket.connect(address)
        self._wake_out, self._wake_in = Real.socketpair()
        #: What our sockets are. An app that closes all files, as daemons do, gets their numbers for files of its own.
        self._files = {each: file_of(each.fileno()) for each in (self._socket, self._wake_out, self._wake_in)}
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._queue: deque[bytes] = deque()
        #: What is left of the line on its way, and how much of it the socket took just now.
        self._head = b""
        self._line = b""
        self._taken: list[int] = []
        self._lock = Real.lock()
        self._buffer = bytearray()
        self._full = False
        #: The connection, where no socket object has it any more.
        self._left: int | None = None
        #: The control thread is to end, its process forks.
        self.interrupted = False

    def write_now(self, message: dict[str, Any]) -> None:
        self._socket.sendall(_line(message))

    def read_one(self, seconds: float) -> dict[str, Any]:
        """The first message. Raises TimeoutError or ConnectionError."""
        end = Real.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = end - Real.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {seconds:.0f} s")
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                raise TimeoutError(f"no answer within {seconds:.0f} s") from None
            if not data:
                raise ConnectionError("it closed the connection")
            self._buffer += data
        self._socket.setblocking(False)
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        return _from_json(line.decode())

    def send(self, message: dict[str, Any]) -> None:
        """From any thread; never waits."""
        self._send(_line(message))

    def _send(self, line: bytes) -> None:
        try:
            self._queue.append(line)
            self._flush()
        except BaseException:
            self.wake()  # A signal handler of the app raised in the middle of it: the control thread goes on.
            raise

    def send_before(self, message: dict[str, Any], seconds: float = _A_MOMENT) -> None:
        """As `send`, but another thread that is just writing is waited for: what the app does next may end the process."""
        line = _Awaited(_line(message))
        self._send(line)
        end = Real.monotonic() + seconds
        while not line.written and self._waits() and not self._full and not self.interrupted and Real.monotonic() < end:
            Real.sleep(0.0002)
            self._flush()

    def put(self, message: dict[str, Any]) -> None:
        """As `send`, but it may lie until the next `send`, or the control thread's next look: half a second at most."""
        self._queue.append(_line(message))

    @property
    def is_behind(self) -> bool:
        """Nobody takes what is queued."""
        return len(self._queue) > _LONGEST_QUEUE

    def _flush(self) -> None:
        while self._waits() and not self._lock.locked():
            with self._lock:
                if not self._write():
                    return

    def _waits(self) -> bool:
        return bool(self._head or self._queue)

    def _write(self) -> bool:
        """Whether all was written. What the socket took is noted before anything else can happen, so that no part is written twice."""
        queue, taken = self._queue, self._taken
        while True:
            if taken:
                rest = self._head[taken[0] :]
                self._head = rest
                del taken[:]
                if rest:
                    self._full = True
                    self.wake()
                    return False
                line = self._line
                if type(line) is _Awaited:
                    line.written = True
            if not self._head:
                if not queue:
                    self._full = False
                    return True
                line = queue[0]
                self._head = self._line = line
                del queue[0]
            try:
                self._check(self._socket)
                taken.extend(map(self._socket.send, (self._head,)))
            except (BlockingIOError, InterruptedError) as error:
                _report.let_through(error)
                self._full = True
                self.wake()
                return False
            except OSError as error:
                _report.let_through(error)
                queue.clear()
                self._head = b""
                self.wake()
                return False

    def wake(self) -> None:
        try:
            if self._is_ours(self._wake_in):
                self._wake_in.send(b"w")
        except OSError as error:
            _report.let_through(error)

    def interrupt(self) -> None:
        self.interrupted = True
        self.wake()

    def wait(self, seconds: float) -> list[dict[str, Any]]:
        """Messages that arrived, maybe none. Raises ConnectionError when the other side is gone, SystemExit-free `Interrupted` for a fork."""
        if self.interrupted:
            raise Interrupted()
        if b"\n" not in self._buffer:
            self._check(self._socket, self._wake_out)
            if Real.poll is not None:
                poll = Real.poll()
                poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._full else 0))
                poll.register(self._wake_out, select.POLLIN)
                ready = poll.poll(seconds * 1000)
                readable = any(fd == self._socket.fileno() and event & ~select.POLLOUT for fd, event in ready)
                woken = any(fd == self._wake_out.fileno() for fd, _ in ready)
            else:
                inputs, _, _ = Real.select(
                    [self._socket, self._wake_out], [self._socket] if self._full else [], [], seconds
                )
                readable = self._socket in inputs
                woken = self._wake_out in inputs
            self._check(self._socket, self._wake_out)
            if woken:
                try:
                    self._wake_out.recv(4096)
                except OSError:
                    pass
            if self.interrupted:
                raise Interrupted()
            if self._waits():
                self._full = False
                self._flush()
            if readable:
                try:
                    data = self._socket.recv(1 << 20)
                    if not data:
                        raise ConnectionError("the connection was closed")
                    self._buffer += data
                except (BlockingIOError, InterruptedError):
                    pass
        messages: list[dict[str, Any]] = []
        if b"\n" in self._buffer:
            whole, _, rest = bytes(self._buffer).rpartition(b"\n")
            self._buffer = bytearray(rest)
            for line in whole.split(b"\n"):
                if line.strip():
                    found = _from_json(line.decode())
                    if isinstance(found, dict):
                        messages.append(found)
        return messages

    def write_last(self, message: dict[str, Any]) -> None:
        """At the end of the process: what is queued and this."""
        self._queue.append(_line(message))
        self.drain()

    def drain(self) -> None:
        """Sends what is queued: for as long as some of it is taken each second, and no longer than some seconds. Another thread may be about to."""
        last = Real.monotonic() + _LONGEST_DRAIN
        end, left = Real.monotonic() + 1.0, len(self._queue)
        while self._waits() and Real.monotonic() < min(end, last):
            self._flush()
            if len(self._queue) < left:
                end, left = Real.monotonic() + 1.0, len(self._queue)
            if self._waits() and self._is_ours(self._socket):
                Real.select([], [self._socket], [], 0.05)

    def is_taken_away(self) -> bool:
        """Whether the app has closed the connection, as one of all numbers of files."""
        return not self._is_ours(self._socket)

    def _check(self, *sockets: Any) -> None:
        if not all(map(self._is_ours, sockets)):
            raise ConnectionError("the app has closed it")

    def _is_ours(self, each: Any) -> bool:
        return file_of(each.fileno()) == self._files[each]

    def close(self) -> None:
        left = self._left
        if left is not None:
            self._left = None
            if file_of(left) == self._files[self._socket]:
                Real.close(left)
        for each in (self._socket, self._wake_in, self._wake_out):
            self._close(each)

    def _close(self, each: Any) -> None:
        try:
            if self._is_ours(each):
                each.close()
            else:
                each.detach()
        except OSError as error:
            _report.let_through(error)

    def leave(self) -> None:
        """At the end of the process, which closes the connection: that says that nothing more is recorded. A socket that is there until then is warned of."""
        if self._is_ours(self._socket):
            self._left = self._socket.detach()
        self._close(self._wake_in)
        self._close(self._wake_out)

    #: In a forked child: the parent's connection is not ours; closing our copies leaves it open there.
    abandon = close


class Interrupted(Exception):
    """The control thread ends because the process is about to fork."""


def _line(message: dict[str, Any]) -> bytes:
    return _to_json(message).encode("utf-8", "backslashreplace") + b"\n"


_from_json = json.JSONDecoder().decode
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
