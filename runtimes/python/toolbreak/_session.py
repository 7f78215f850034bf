"""The runtime's side of a session: connects, says hello, and answers the adapter from a thread of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from . import (
    _calls,
    _guards,
    _holds,
    _imports,
    _line_steps,
    _lines,
    _output,
    _own_thread,
    _report,
    _standard,
    _steps,
    _stops,
    _uncaught,
    _written,
)
from ._own_thread import OwnThread
from ._real import Real
from ._segments import keep_if_taken
from ._wire import PATIENTLY, Interrupted, Wire

if sys.version_info >= (3, 12):
    from . import _line_events as _line_backend
else:
    from . import _line_hooks as _line_backend

PROTOCOL_VERSION = 1
#: Of one message about what the app wrote.
_LONGEST_TEXT = 32_768
_WELCOME_SECONDS = 5.0
_SILENCE_SECONDS = 10.0
_LAST_LOOK = 0.2
GONE = "the debugger went away; the program goes on."
SILENT = "the debugger does not answer any more; what was held goes on, without a debugger."


class Sources:
    """Texts a person can open: rendered prompts, tool schemas, workflow structure. Frameworks fill it."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, str, str, Any]] = {}

    def put(self, key: str, name: str, mime: str, text: Any) -> None:
        """`text` may be a callable that is asked when a person opens it. The same key replaces."""
        known = self._entries.get(key)
        self._entries[key] = (known[0] if known is not None else len(self._entries) + 1, name, mime, text)

    def list(self) -> list[dict[str, Any]]:
        return [{"id": e[0], "name": e[1], "mimeType": e[2]} for e in list(self._entries.values())]

    def read(self, id: int) -> dict[str, Any]:
        for number, _, mime, text in list(self._entries.values()):
            if number == id:
                with _calls.Quiet():
                    return {"text": text() if callable(text) else text, "mimeType": mime}
        raise KeyError("This text is no longer there.")


sources = Sources()


class Session:
    """One connection of this process to an adapter."""

    def __init__(self, connect: dict[str, Any]) -> None:
        self.connect = {name: _as_path(value) if name in _PATHS else value for name, value in connect.items()}
        self.wire: Wire | None = None
        self.thread: OwnThread | None = None
        self.configuration: dict[str, Any] = {}
        self.generation = -1
        self.pid = Real.getpid()
        self.jobs: dict[int, _holds.Hold] = {}
        self.closing = False
        self.detached = False
        self.dirty = False
        self.writer: Any = None
        self.stop_map: Any = None
        self.stop_size = 0
        #: Characters that nobody took since the last that was.
        self.output_lost = 0
        self.output_in_line = False
        self.root = True
        #: Forked by a thread: the process ends with the last thread of the app.
        self.without_main = False
        #: Threads of the app that fork just now. A signal handler may fork in the middle of it, in the same thread.
        self._forking = 0
        self._fork_lock = Real.rlock()

    # ------------------------------------------------------------ beginning

    def start(self) -> None:
        """Connects and is configured. Raises OSError, ValueError or TimeoutError with a sentence."""
        self.pid = Real.getpid()
        self.wire = wire = Wire(self.connect["address"], _WELCOME_SECONDS)
        wire.write_now(_hello(self.connect["token"]))
        welcome = wire.read_one(_WELCOME_SECONDS)
        if welcome.get("version") != PROTOCOL_VERSION or not welcome.get("welcome"):
            raise ValueError(
                str(welcome.get("error") or "the debugger speaks another version of the protocol; update Toolbreak")
            )
        self._map_stop_file()
        _report.guard(_output.keep, self.connect.get("output"))
        configuration = welcome["configuration"]
        self._start_recording(configuration)
        if not self.root:
            configuration["stopOnEntry"] = False
        _calls.attached = True
        _calls.decide = _stops.decide
        _calls.lets_go = bool(configuration.get("unattended"))
        _calls.hold = _holds.hold
        _calls.ahold = _holds.ahold
        _calls.task_changed = self._task_changed
        _calls.function_known = self._function_known
        _stops.log = self.log
        _stops.states_changed = self.mark_dirty
        # Asked now: the system tells a process's start only as the time when somebody first wanted to know.
        _guards.process_started()
        _lines.backend = _line_backend
        _steps.enter = _line_steps.enter
        _lines.log = self.log
        _lines.states_changed = self.mark_dirty
        _guards.on_code = _lines.seen
        _holds.send = self.send
        _holds.put = self.put
        _imports.prepare_code = _guards.prepare
        _imports.after_import = self._imported
        _imports.install()
        self.configure(configuration)
        if (configuration.get("record") or {}).get("output"):
            _report.guard(_written.watch, self.written)
        for task in _calls.tasks():
            self._task_changed(task, "started")
        # A condition that does not compile is told now, not with the next change; and what is bound already, where we come late.
        if _stops._dots:
            self.send({"event": "breakpoints", "breakpoints": _stops.states()})
        self._start_thread()

    def _map_stop_file(self) -> None:
        path = self.connect.get("stopFile")
        if not path:
            return
        file = Real.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        try:
            self.stop_map = Real.mmap(file, 1, access=_standard.module("mmap").ACCESS_READ)
            self.stop_size = Real.fstat(file).st_size
        finally:
            Real.close(file)
        _calls.stopping.stop_byte = self.stop_map

    def _start_recording(self, configuration: dict[str, Any]) -> None:
        folder = self.connect.get("spool")
        if self.writer is not None:  # A forked child goes on with its own files.
            _calls.writer = self.writer
            return
        if not folder or not configuration.get("record", {}).get("enabled"):
            return
        try:
            from . import _masking
            from ._values import Settings
            from ._writer import Writer

            settings = Settings.from_record(configuration["record"])
            if settings.masking.problems:
                self.log("important", " ".join([*settings.masking.problems, "So nothing is recorded of this process."]))
                return
            # A process that the app starts may be a short one, and may never need it.
            if self.root:
                _masking.prepare()
            self.writer = Writer(folder, process_id(), settings, _info(), self._problem)
            before, _calls.writer = _calls.writer, self.writer
            if before is not None:
                before.event("mark", None, {"text": "A debugger was attached: what followed is in its own run."})
            from . import _faults

            _faults.watch(folder, self.writer.process)
            _uncaught.watch_threads()
        except Exception as error:
            _report.failure(error)

    def _problem(self, sentence: str) -> None:
        _calls.writer = None
        self.log("important", sentence)

    def configure(self, configuration: dict[str, Any]) -> list[dict[str, Any]]:
        if configuration.get("generation", 0) < self.generation:
            return _stops.states()
        self.generation = configuration.get("generation", 0)
        self.configuration = configuration
        _holds.evaluation_seconds = configuration.get("evaluationSeconds") or 10.0
        if self.writer is not None and configuration.get("record"):
            from ._values import Settings

            self.writer.configure(Settings.from_record(configuration["record"]))
        states = _stops.configure(configuration)
        if configuration.get("native") is not None or "toolbreak._gates" in sys.modules:
            from . import _gates

            _report.guard(_gates.configure, self, configuration.get("native"))
        if any(entry.get("filter") == "uncaught" for entry in configuration.get("exceptions", [])):
            _uncaught.watch()
        return states

    # ------------------------------------------------------------ events

    def send(self, message: dict[str, Any]) -> None:
        wire = self.wire
        if wire is not None and not self.closing:
            wire.send(message)

    def answer_before(self, seq: int) -> None:
        """Answers a request before it is done: the app may end with the very next thing it does."""
        wire = self.wire
        if wire is not None and not self.closing:
            wire.send_before({"re": seq, "ok": True, "body": {}}, PATIENTLY)

    def put(self, message: dict[str, Any]) -> None:
        """Goes out with what is sent next."""
        wire = self.wire
        if wire is not None and not self.closing:
            wire.put(message)

    def log(self, category: str, text: str, path: str | None = None, line: int = 0) -> None:
        message: dict[str, Any] = {"event": "log", "category": category, "text": text}
        if path:
            message.update(path=path, line=line)
        self.send(message)

    def written(self, stream: str, text: str) -> None:
        """What the app wrote. An app that writes faster than the adapter reads is not to fill its own memory with it."""
        wire = self.wire
        if wire is None or self.closing or Real.getpid() != self.pid:
            return
        if wire.is_behind:
            self.output_lost += len(text)
            return
        wall = Real.time_ns() // 1000
        text = self._gap() + text
        self.output_in_line = not text.endswith("\n")
        # A line goes out at once, so that it stands where it belongs in time; a piece of one goes with the rest.
        for start in range(0, len(text), _LONGEST_TEXT):
            part = text[start : start + _LONGEST_TEXT]
            message = {"event": "output", "stream": stream, "text": part, "wall": wall}
            (wire.send_before if "\n" in part else wire.put)(message)

    def _gap(self) -> str:
        """A line in the place of the output that nobody took, if there was any."""
        lost, self.output_lost = self.output_lost, 0
        if lost == 0:
            return ""
        begin = "\n" if self.output_in_line else ""
        return f"{begin}[toolbreak: {lost:,} characters of output came too fast to be recorded]\n"

    def _task_changed(self, task: Any, change: str) -> None:
        self.send({"event": "task", "task": task.id, "name": task.name, "change": change})

    def mark_dirty(self) -> None:
        self.dirty = True
        if self.wire is not None:
            self.wire.wake()

    def _function_known(self, fn: Any) -> None:
        if any(dot.type != "data" for dot in list(_stops._dots.values())):
            self.mark_dirty()

    def _imported(self, name: str, path: str | None) -> None:
        if _stops.imported(path):
            self.mark_dirty()

    # ------------------------------------------------------------ the control thread

    def _run(self) -> None:
        wire = self.wire
        assert wire is not None
        silence = 0.0
        limit = self.connect.get("heartbeatSeconds") or _SILENCE_SECONDS
        last = Real.monotonic()
        try:
            while not self.closing:
                # Nothing says that a thread has ended.
                messages = wire.wait(0.02 if self.without_main else 0.5)
                if self.without_main and _is_last_thread():
                    self.bye()
                    return
                now = Real.monotonic()
                # A process that was stopped for a while has not been left alone for that while.
                silence = 0.0 if messages else silence + min(now - last, 1.0)
                last = now
                for message in messages:
                    self._handle(message)
                if self.dirty:
                    self.dirty = False
                    self.send({"event": "breakpoints", "breakpoints": _stops.states()})
                if silence > limit:
                    raise TimeoutError("no heartbeat")
            if self.detached:
                _report.guard(_output.let_go)
        except Interrupted:
            return
        except Exception as error:
            if not self.closing:
                if not isinstance(error, OSError):
                    _report.failure(error)
                self.leave(SILENT if isinstance(error, TimeoutError) else GONE)
                _report.guard(_output.let_go, only_full=isinstance(error, TimeoutError))

    def _handle(self, message: dict[str, Any]) -> None:
        from . import _requests

        seq = message.get("seq")
        if not isinstance(seq, int):
            return
        _requests.handle(self, seq, message)

    def leave(self, sentence: str = "") -> None:
        """Ends the session; the app goes on as if it had never been debugged."""
        global session, orphan
        if self.closing:
            return
        self.closing = True
        if session is self:
            session = None
        self.detached = not sentence
        # A process that closes all that it did not open, as a daemon does, takes its connection away itself: nobody has gone.
        if sentence and not (self.wire is not None and self.wire.is_taken_away()):
            _report.say(sentence, once=False)
        _holds.send = None
        # What was lost without a word is recorded on: whoever opens the timeline later finds the rest of the run, too.
        records = bool(sentence) and self.writer is not None and not self.writer.ended
        orphan = self.writer if records and self.root else None
        _calls.attached = records
        _calls.decide = None
        _calls.lets_go = False
        _stops.drop()
        self.drop_stop_map()
        _holds.release_all()
        if orphan is not None:
            # Whoever takes the recording over knows by it that an end would be noted.
            _report.guard(orphan.event, "alone", None, {"text": "Toolbreak went away; the app went on."})
        gates = sys.modules.get("toolbreak._gates")
        if gates is not None:
            _report.guard(gates.gone)
        if self.writer is not None and not sentence:
            # A detach was asked for: nothing is recorded any more.
            _calls.writer = None
            self.writer.close()
        _report.guard(_written.unwatch)
        if records:
            _report.guard(_stops.configure, {"record": self.configuration.get("record") or {}})
        else:
            from . import _main

            _imports.prepare_code = _imports.after_import = None
            _imports.remove()
            _uncaught.unwatch()
            _report.guard(_main.forget_environment)
            _report.guard(_guards.take_back)
        if self.wire is not None:
            if self.detached:
                self.wire.drain()
            self.wire.close()

    def drop_stop_map(self) -> None:
        mapped, self.stop_map = self.stop_map, None
        _calls.stopping.stop_byte = b"\0"
        if mapped is not None:
            _report.guard(keep_if_taken, mapped, self.stop_size)

    # ------------------------------------------------------------ fork and exit

    def before_fork(self) -> None:
        """Threads make `os.fork` warn: ours ends, and comes back in both processes."""
        with self._fork_lock:
            self._forking += 1
            thread = self.thread
            if thread is not None and self.wire is not None and thread.ident != Real.thread_id():
                self.thread = None
                self.wire.interrupt()
                thread.join(2.0)

    def after_fork_in_parent(self) -> None:
        with self._fork_lock:
            self._forking -= 1
        _own_thread.start_after_fork(self._start_again)

    def _start_again(self) -> None:
        if Real.getpid() != self.pid:  # Forked before it was called.
            return
        with self._fork_lock:
            if not (self.closing or self.wire is None or self._forking > 0 or self.thread is not None):
                self.wire.interrupted = False
                self._start_thread()

    def _start_thread(self) -> None:
        self.thread = OwnThread(self._run)
        self.thread.start()

    def bye(self) -> None:
        if self.closing or Real.getpid() != self.pid:
            return
        self.closing = True
        # Nobody could release what stops from here on: finalisers, and exit handlers that were registered before ours.
        _holds.send = None
        _calls.decide = None
        if self.wire is not None:
            from . import _main

            gap = self._gap()
            if gap:
                self.wire.put({"event": "output", "stream": "stdout", "text": gap})
            goodbye: dict[str, Any] = {"event": "bye"}
            code = _report.guard(_main.exit_code)
            if code is not None:
                goodbye["exitCode"] = code
            self.wire.write_last(goodbye)
            # What is left of a thread when the interpreter goes may need a library, for which an app out of files has no file.
            self.wire.wake()
            if self.thread is not None and self.thread.ident != Real.thread_id():
                self.thread.join(_LAST_LOOK)
                if not self.thread.is_alive():
                    self.wire.leave()


def _is_last_thread() -> bool:
    """Whether the app has none any more. One that just begins has no frame for a moment."""
    for _ in range(3):
        if len(sys._current_frames()) > 1:
            return False
        Real.sleep(0.001)
    return True


session: Session | None = None
#: What a session recorded into that was lost, in the process that the app began with.
orphan: Any = None


def process_id() -> str:
    """`<pid>-<start time in ns, hex>`."""
    global _started
    if _started[0] != Real.getpid():
        _started = (Real.getpid(), Real.time_ns())
    return f"{_started[0]}-{_started[1]:x}"


_started = (0, 0)


def _info(is_secret: Callable[[str], bool] | None = None) -> dict[str, Any]:
    from ._masking import MASK, is_secret_name

    argv = list(getattr(sys, "argv", []) or [])
    for index, option in enumerate(argv[:-1]):
        if isinstance(option, str) and option.startswith("-") and (is_secret or is_secret_name)(option.lstrip("-")):
            argv[index + 1] = MASK
    return {"name": _calls.process_name(), "argv": argv, "python": sys.version.split()[0]}


def _hello(token: str) -> dict[str, Any]:
    from . import __version__

    frameworks: list[dict[str, Any]] = []
    try:
        from . import _frameworks

        frameworks = _frameworks.known()
    except Exception as error:
        _report.failure(error)
    return {
        "event": "hello",
        "version": PROTOCOL_VERSION,
        "token": token,
        "runtime": __version__,
        "language": "python",
        "languageVersion": sys.version.split()[0],
        "pid": Real.getpid(),
        "parentPid": Real.getppid(),
        "process": process_id(),
        "name": _name(),
        "argv": list(getattr(sys, "argv", None) or getattr(sys, "orig_argv", [])),
        "cwd": _cwd(),
        "executable": sys.executable or "",
        "frameworks": frameworks,
    }


def _name() -> str:
    """Before `sys.argv` is whole, the command line says it."""
    argv = list(getattr(sys, "orig_argv", []))[1:]
    if any("multiprocessing" in part and "spawn_main" in part for part in argv):
        return f"Process {Real.getpid()}"
    if getattr(sys, "argv", None) and sys.argv[0] not in ("", "-c", "-m"):
        return _calls.process_name()
    if "-m" in argv[:-1]:
        return argv[argv.index("-m") + 1]
    return _calls.process_name()


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def unsupported() -> str:
    """Why this interpreter cannot be debugged; empty when it can."""
    if sys.version_info < (3, 10):  # noqa: UP036
        return f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old (needs 3.10)"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "free-threaded Python is not supported yet"
    return ""


#: What of a connect file is a path, or may be one.
_PATHS = frozenset({"address", "output", "spool", "stopFile"})


def _as_path(value: Any) -> Any:
    """A path as this process writes it: under a locale that knows only ASCII, each other byte is half of a pair."""
    if type(value) is not str or os.name == "nt":
        return value
    return os.fsdecode(value.encode("utf-8", "surrogateescape"))


def attach(connect: dict[str, Any], *, root: bool = True) -> Session:
    """Joins a session. Raises with a sentence where that is not possible."""
    global session
    if session is not None:
        raise ValueError("this process is being debugged already")
    if connect.get("version") != PROTOCOL_VERSION:
        raise ValueError("the debugger speaks another version of the protocol; update Toolbreak")
    _calls.forget_recording()
    made = Session(connect)
    made.root = root
    session = made
    try:
        made.start()
    except BaseException:
        session = None
        _calls.attached = False
        if made.wire is not None:
            made.wire.close()
        raise
    from . import _ends

    _ends.register_once()
    return made


def boot(path: str) -> None:
    """Called before anything of the app runs, with the path of the connect file."""
    try:
        with open(path, encoding="utf-8") as file:
            connect = json.load(file)
    except (OSError, ValueError) as error:
        _report.say(f"the debugger's connect file cannot be read ({error}); the program runs without a debugger.")
        return
    from . import _main

    install_frameworks()
    _guards.main_started = False
    root = not _main.is_child()
    try:
        attach(connect, root=root)
    except (TimeoutError, ConnectionError, FileNotFoundError, OSError) as error:
        _report.say(f"the debugger did not answer ({error}); the program runs without a debugger.")
        return
    except Exception as error:
        _report.say(f"{error}; the program runs without a debugger.")
        return
    _main.watch()


def install_frameworks() -> None:
    from . import _frameworks, _runners

    _imports.install()
    _report.guard(_runners.install)
    _report.guard(_frameworks.install)
