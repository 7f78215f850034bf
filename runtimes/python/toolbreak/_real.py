"""
What the process itself answers, taken when we are loaded. Tests and libraries put something else in its place (`unittest.mock.patch("time.time")`,
freezegun, pyfakefs, gevent): that is for the app alone. Attributes of a class, since freezegun looks for them among those of modules.
"""

from __future__ import annotations

import _socket
import _thread
import mmap
import os
import select
import threading
import time
from typing import Any

if hasattr(_socket, "socketpair"):
    _socketpair: Any = _socket.socketpair
else:  # Windows
    from socket import socketpair as _socketpair


class Real:
    # Else they would be taken for methods of it.
    monotonic_ns: Any = time.monotonic_ns
    monotonic: Any = time.monotonic
    time_ns: Any = time.time_ns
    sleep: Any = time.sleep
    getpid: Any = os.getpid
    getppid: Any = os.getppid
    open: Any = os.open
    close: Any = os.close
    write: Any = os.write
    read: Any = os.read
    lseek: Any = os.lseek
    ftruncate: Any = os.ftruncate
    stat: Any = os.stat
    fstat: Any = os.fstat
    dup2: Any = os.dup2
    unlink: Any = os.unlink
    mmap: Any = mmap.mmap
    thread_id: Any = threading.get_ident
    native_thread_id: Any = getattr(threading, "get_native_id", threading.get_ident)
    start_thread: Any = _thread.start_new_thread
    lock: Any = _thread.allocate_lock
    rlock: Any = _thread.RLock
    socketpair: Any = _socketpair
    socket: Any = _socket.socket
    poll: Any = getattr(select, "poll", None)
    select: Any = select.select


#: Of the interpreter; gevent gives `threading.main_thread()` another number.
_main = threading.main_thread().ident


def _forked() -> None:
    global _main
    _main = Real.thread_id()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def thread_name() -> str:
    """Of the thread that runs, as the app knows it. One that `threading` does not know is not asked for: it would be known from then on."""
    known = getattr(threading, "_active", {}).get(threading.get_ident())
    return "thread" if known is None else known.name


def is_main_thread() -> bool:
    return Real.thread_id() == _main


def file_of(file: int) -> tuple[int, int] | None:
    """What an open file's number stands for. An app that closes all of them, as daemons do, gets the numbers of ours for its own files."""
    try:
        found = Real.fstat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
