"""Recording without any debugger: spools and a note in a folder, which `toolbreak import` takes over later."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from . import _calls, _guards, _imports, _report, _session, _standard, _stops
from ._masking import Masking, prepare

NOTE = "run.json"
#: The folder of the run, for the processes that this one starts.
_INTO = "TOOLBREAK_RECORD_INTO"

#: Patterns of functions to record, beside tools, nodes and model calls.
_FUNCTIONS = "TOOLBREAK_RECORD_FUNCTIONS"

#: Names of secrets, beside the usual ones.
_MASK_KEYS = "TOOLBREAK_RECORD_MASK_KEYS"

_writer: Any = None


def boot(folder: str) -> None:
    """Called before anything of the app runs, with the value of TOOLBREAK_RECORD."""
    from . import _main

    _guards.main_started = False
    if not os.path.isabs(folder):
        # Processes that are started elsewhere record there, too.
        folder = os.environ["TOOLBREAK_RECORD"] = os.path.abspath(folder)
    try:
        begin(folder)
    except OSError as error:
        _report.say(f"nothing is recorded ({error}); the program runs all the same.")
        return
    _main.watch()


def begin(folder: str) -> str:
    """Records from now on; answers the run's own folder, empty where a debugger records already. Raises OSError."""
    global _writer
    from . import _ends, _faults, _main, _uncaught
    from ._spool import LIMIT
    from ._values import Settings
    from ._writer import Writer

    if _session.session is not None:
        return ""
    if _writer is not None and _calls.writer is _writer:
        return _writer.folder
    record = {
        "enabled": True,
        "functions": _functions(),
        "maskKeys": _words(_MASK_KEYS),
        # `toolbreak import` reads it, which understands them.
        "references": True,
    }
    limit = _limit(LIMIT)
    if _INTO not in os.environ:
        prepare()
    into = _folder_of_run(os.path.abspath(folder))
    info = {**_session._info(_masking().is_secret_key), "pidStart": _start_mark()}
    _calls.forget_recording()
    _session.install_frameworks()
    _writer = Writer(into, _session.process_id(), Settings.from_record(record), info, _ended, limit)
    _calls.writer = _writer
    _faults.watch(into, _writer.process)
    _calls.attached = True
    _calls.decide = None
    _imports.prepare_code = _guards.prepare
    _imports.install()
    _stops.configure({"record": record})
    _ends.register_once()
    _uncaught.watch_threads()
    _main.adopt()
    return into


def forked() -> bool:
    """In a forked child: it records into files of its own. False when its parent did not record this way."""
    if _writer is None or _calls.writer is not _writer:
        return False
    _calls.forked()
    for guard in list(_guards._guards.values()):
        guard.forked()
    from . import _faults

    _writer.after_fork(_session.process_id(), pidStart=_start_mark())
    _faults.forked(_writer.folder, _writer.process)
    return True


def note_end() -> None:
    """The process that began the run comes to its end: one that is killed says nothing. Of others the run is not over with them."""
    from . import _main

    writer = _calls.writer
    if writer is None or not writer.has_begun():
        return
    # Of a session that was lost, nobody else is told.
    if writer is not _session.orphan and (writer is not _writer or _root_of(writer.folder) != os.getpid()):
        return
    # Who tells of errors in a way of its own may end the process with a code of its own.
    code = _main.exit_code() if sys.excepthook is sys.__excepthook__ else None
    writer.event("exited", None, {} if code is None else {"code": code})


def _root_of(folder: str) -> int:
    """The process that made the folder of the run; also another program that it became."""
    pid = folder.rpartition(os.sep)[2].split("-")[-2:-1]
    return int(pid[0]) if pid and pid[0].isdigit() else 0


def _ended(sentence: str) -> None:
    _calls.writer = None
    _report.say(sentence)


def _masking() -> Masking:
    return Masking(_words(_MASK_KEYS))


def _limit(usual: int) -> int:
    """Bytes that this process may write."""
    megabytes = os.environ.get("TOOLBREAK_RECORD_MEGABYTES", "")
    if megabytes.isascii() and megabytes.isdigit() and len(megabytes) < 10 and int(megabytes) > 0:
        return int(megabytes) << 20
    # Said by the first process of a run alone: the others have the same.
    if megabytes and _INTO not in os.environ:
        _report.say(
            f"TOOLBREAK_RECORD_MEGABYTES is {json.dumps(megabytes[:40])}, and has to be a whole number from 1 on: "
            f"{usual >> 20} is taken."
        )
    return usual


def _functions() -> list[str]:
    """Patterns of functions to record. One that can name none is said, as above, by the first process of a run."""
    patterns = _words(_FUNCTIONS)
    for pattern in patterns if _INTO not in os.environ else ():
        if pattern.startswith("@") and pattern != "@usercode" and (pattern[:6] != "@file:" or pattern == "@file:"):
            _report.say(
                f"{json.dumps(pattern[:40])} of {_FUNCTIONS} names no function: "
                'behind "@" there is "usercode", or "file:" and a path.'
            )
    return patterns


def _words(variable: str) -> list[str]:
    return [word.strip() for word in os.environ.get(variable, "").split(",") if word.strip()]


def _folder_of_run(folder: str) -> str:
    """The folder that a process above us made for the run, or a new one with its note."""
    known = os.environ.get(_INTO, "")
    if known and os.path.dirname(known) == folder and os.path.isfile(os.path.join(known, NOTE)):
        return known
    token = os.urandom(8).hex()
    into = os.path.join(folder, f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}-{os.getpid()}-{token[:4]}")
    os.makedirs(into, mode=0o700)
    masking = _masking()
    note = {
        "version": 1,
        "id": token,
        "name": _session._name(),
        # Only the debugger sees it as it is.
        "argv": [masking.text(word) for word in _session._info(masking.is_secret_key)["argv"] if type(word) is str],
        "cwd": _session._cwd(),
        "executable": sys.executable or "",
        "pid": os.getpid(),
        "machine": machine(),
        "started": time.time_ns(),
    }
    path = os.path.join(into, NOTE)
    with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(note, file)
    os.replace(f"{path}.new", path)
    os.environ[_INTO] = into
    return into


def machine() -> str:
    """This machine since it was started, and which numbers processes have: elsewhere, or later, ours mean nothing."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        platform = _standard.module("platform")

        return platform.node()


def _start_mark() -> str:
    """Tells this process from a later one of its number, as the adapter reads it; empty where the system does not say."""
    try:
        with open("/proc/self/stat", encoding="latin-1") as file:
            stat = file.read()
        return stat[stat.rindex(")") + 2 :].split()[19]
    except (OSError, ValueError, IndexError):
        return ""
