"""What happens to a session, and to a recording, when their process forks or ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Any

from . import (
    _audit,
    _calls,
    _faults,
    _frameworks,
    _guards,
    _holds,
    _lines,
    _main,
    _own_thread,
    _report,
    _session,
    _static,
    _steps,
    _uncaught,
)
from ._real import Real

_registered = False
#: Of the process that was not forked. What another thread forks has no interpreter that waits for it: it ends with its last thread.
_main_thread = threading.main_thread().ident


def register_once() -> None:
    global _registered
    if _registered:
        return
    _registered = True
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_in_child)
    _own_thread.watch_forks(_before_fork, _after_in_parent)
    atexit.register(_at_exit)
    _audit.install()


def _before_fork() -> None:
    if _session.session is not None:
        _session.session.before_fork()


def _after_in_parent() -> None:
    if _session.session is not None:
        _session.session.after_fork_in_parent()


def _after_in_child() -> None:
    if sys.is_finalizing():  # A finaliser forked, and nothing can be imported any more.
        _calls.attached = False
        return
    old = _session.session
    _session.orphan = None
    if old is None:
        from . import _record

        if _record.forked():
            return
        # A parent that records on without a debugger, and so does its child, into files of its own.
        writer = _calls.writer
        if writer is None or writer.ended:
            _calls.writer = None
            _calls.attached = False
        else:
            _report.guard(_forget_parent, writer)
        return
    _session.session = None
    try:
        if old.wire is not None:
            old.wire.abandon()
        old.drop_stop_map()
        _forget_parent(old.writer)
        made = _session.Session(old.connect)
        made.root = False
        made.writer = old.writer
        made.without_main = _main_thread != Real.thread_id()
        _session.session = made
        made.start()
    except Exception as error:
        _session.session = None
        _calls.attached = False
        _report.say(f"this child process is neither debugged nor recorded ({error}).")


def _forget_parent(writer: Any) -> None:
    _calls.forked()
    _holds.forked()
    for guard in list(_guards._guards.values()):
        guard.forked()
    _steps.forked()
    _lines.forked()
    if writer is not None:
        writer.after_fork(_session.process_id())
        _faults.forked(writer.folder, writer.process)


def _at_exit() -> None:
    _report.guard(_faults.survived)
    _report.guard(_uncaught.record_end)
    from . import _record

    _report.guard(_record.note_end)
    if _session.session is not None:
        _report.guard(_session.session.bye)
    _let_go()


def _let_go() -> None:
    """
    Nothing of the app may outlive it because of us: its finalisers run when its modules go, and through one class, function or frame all of a module
    can be reached. A generator that waits for its next turn has no end in the recording then.
    """
    writer = _calls.writer
    for forget in (_main.forget_frame, _guards.let_go, _static.let_go, _frameworks.let_go, writer and writer.let_go):
        if forget is not None:
            _report.guard(forget)
