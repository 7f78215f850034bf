"""`toolbreak.listen`: waits on a loopback door for a debugger, then connects back to it as if it had been launched by it."""

from __future__ import annotations

import base64
import errno
import hmac
import json
import os
import secrets
import select
import socket
import stat
import sys
import threading
from typing import Any

from . import _report, _session
from ._own_thread import OwnThread, start_after_fork, watch_forks
from ._real import Real

_LIMIT = 64 * 1024
_door: _Door | None = None


class _Door:
    def __init__(self, port: int | str, host: str) -> None:
        self.pid = os.getpid()
        self.attached = threading.Event()
        if isinstance(port, str) and not port.isdigit():
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            _remove_socket(port)
            self._socket.bind(port)
            os.chmod(
                port, 0o600
            )  # Nobody can connect before `listen` below; a changed umask would be one of other threads, too.
            self.address = port
        else:
            self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            if os.name != "nt":
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, int(port)))
            self.address = f"{host}:{self._socket.getsockname()[1]}"
        fixed = str(port) != "0"
        self.token = (_lasting_token(self.address) if fixed else "") or secrets.token_urlsafe(18)
        self._socket.listen(4)
        self._socket.setblocking(False)
        self._wake_out, self._wake_in = socket.socketpair()
        self._forks = 0
        self._changing = Real.rlock()  # A signal handler may fork while the app does.
        self._start()

    def _start(self) -> None:
        self.thread = OwnThread(self._serve)
        self.thread.start()
        self._is_away = False

    def _serve(self) -> None:
        while True:
            try:
                ready, _, _ = select.select([self._socket, self._wake_out], [], [])
                if self._wake_out in ready:
                    self._wake_out.recv(1)
                    return
                connection, _ = self._socket.accept()
            except BlockingIOError:
                continue
            except (OSError, ValueError):
                return
            with connection:
                connection.settimeout(5)
                try:
                    connection.sendall(json.dumps(self._answer(connection)).encode() + b"\n")
                except OSError:
                    pass
                except Exception as error:  # Whatever a stranger sends, the door stays open.
                    _report.failure(error)

    def before_fork(self) -> None:
        """Ends the thread, at once: threads make `os.fork` warn. Several threads of the app may fork at a time."""
        if os.getpid() != self.pid:
            return
        with self._changing:
            self._forks += 1
            if self._forks == 1 and self.thread.is_alive():
                self._is_away = True
                self._wake_in.send(b"w")
                self.thread.join(2)

    def after_fork(self) -> None:
        if os.getpid() != self.pid:
            return
        with self._changing:
            self._forks -= 1
        start_after_fork(self._start_again)

    def _start_again(self) -> None:
        if os.getpid() != self.pid:  # Forked before it was called.
            return
        with self._changing:
            if self._forks == 0 and self._is_away:
                self._start()

    def _answer(self, connection: socket.socket) -> dict[str, Any]:
        data = b""
        try:
            while b"\n" not in data and len(data) < _LIMIT:
                more = connection.recv(4096)
                if not more:
                    break
                data += more
            message = json.loads(data.partition(b"\n")[0])
            token = message.get("token")
            given = token.encode() if isinstance(token, str) else b""
        except (OSError, ValueError, AttributeError, RecursionError):
            return {"ok": False, "error": "The message was not understood."}
        if not hmac.compare_digest(given, self.token.encode()):
            return {"ok": False, "error": "The token is not the one this process printed."}
        connect = message.get("connect")
        if not isinstance(connect, dict):
            return {"ok": False, "error": "The message says nothing of where to connect."}
        try:
            _session.attach(connect)
        except Exception as error:
            return {"ok": False, "error": f"{error}"}
        self.attached.set()
        return {"ok": True}

    def close_in_child(self) -> None:
        for each in (self._socket, self._wake_in, self._wake_out):
            try:
                each.close()
            except OSError:
                pass


def _remove_socket(path: str) -> None:
    """What an earlier run left. Raises OSError for anything else that is there: it is the person's."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise OSError(errno.EADDRINUSE, "this path is taken by something that is no socket", path)
    os.unlink(path)


def _lasting_token(address: str) -> str:
    """
    A token that only this user can know and that stays the same for this address: a server that is reloaded lets the waiting debugger in
    again. Empty where the user's folder cannot be written.
    """
    path = os.path.join(_state_folder(), "listen.key")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fresh = f"{path}.{os.getpid()}.new"
        if not os.path.exists(path):
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(fresh, path)  # Whole or not at all; the first one wins.
            except FileExistsError:
                pass
            except OSError:
                os.replace(fresh, path)
            if os.path.exists(fresh):
                os.unlink(fresh)
        with open(path, "rb") as file:
            key = file.read()
    except OSError:
        return ""
    if len(key) < 32:
        return ""
    digest = hmac.new(key, address.encode(), "sha256").digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def _state_folder() -> str:
    if os.name == "nt":
        parent = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif os.environ.get("XDG_STATE_HOME", "").startswith("/"):
        parent = os.environ["XDG_STATE_HOME"]
    elif sys.platform == "darwin":
        parent = os.path.expanduser("~/Library/Application Support")
    else:
        parent = os.path.expanduser("~/.local/state")
    return os.path.join(parent, "toolbreak")


def listen(port: int | str, host: str, wait: bool) -> str:
    global _door
    if host not in ("127.0.0.1", "::1", "localhost"):
        raise ValueError(
            f"toolbreak.listen only opens doors on this machine itself; {host!r} is not one of 127.0.0.1, ::1 and localhost"
        )
    refusal = _session.unsupported()
    if refusal:
        _report.say(f"{refusal}; the program runs without a debugger.")
        return ""
    if _session.session is not None:
        return ""  # A debugger is here already.
    if _door is None or _door.pid != os.getpid():
        _door = _Door(port, host)
        _session.install_frameworks()
        _report.say(f"waiting for a debugger on {_door.address} with token {_door.token}", once=False)
        watch_forks(_door.before_fork, _door.after_fork)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_door.close_in_child)
    if wait:
        while not _door.attached.wait(0.2):
            pass
    return _door.address
