"""The adapter's side of the control socket, small enough to read: it accepts processes, keeps their events and sends requests."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUNTIME = Path(__file__).resolve().parents[3] / "runtimes" / "python"
BOOT = RUNTIME / "toolbreak" / "boot"
PATIENCE = 20.0

RECORD = {
    "enabled": False,
    "functions": [],
    "maxValueBytes": 1 << 20,
    "maxDepth": 100,
    "maskKeys": [],
    "maskPatterns": [],
}
#: Functions of the app's own, too.
RECORD_FUNCTIONS = {**RECORD, "enabled": True, "functions": ["@usercode"]}


def configuration(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "generation": 1,
        "breakpoints": [],
        "exceptions": [],
        "hold": "task",
        "stopOnEntry": False,
        "justMyCode": True,
        "record": dict(RECORD),
        "evaluationSeconds": 2,
    }
    made.update(changes)
    return made


def line_of(path: Path, text: str) -> int:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if text in line:
            return number
    raise AssertionError(f"{text!r} is not in {path}")


def dot(id: int, path: Path, text: str, **more: Any) -> dict[str, Any]:
    """A breakpoint on the line that holds `text`."""
    made = {
        "id": id,
        "enabled": True,
        "boundaries": ["before"],
        "target": {"type": "source", "path": str(path), "line": line_of(path, text)},
    }
    made.update(more)
    return made


def named(id: int, glob: str, kind: str | None = None, **more: Any) -> dict[str, Any]:
    target: dict[str, Any] = {"type": "function", "glob": glob}
    if kind:
        target["kind"] = kind
    return {"id": id, "enabled": True, "boundaries": ["before"], "target": target, **more}


class Process:
    """One connected process of the app."""

    def __init__(self, adapter: Adapter, connection: socket.socket, hello: dict[str, Any]) -> None:
        self.adapter = adapter
        self.hello = hello
        self.connection = connection
        self.closed = False
        self._seq = itertools.count(1)
        self._answers: dict[int, dict[str, Any]] = {}

    def write(self, message: dict[str, Any]) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def request(self, name: str, /, **arguments: Any) -> Any:
        answer = self.ask(name, **arguments)
        assert answer["ok"], answer
        return answer["body"]

    def ask(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        seq = next(self._seq)
        self.write({"seq": seq, "request": name, **arguments})
        return self.adapter.wait(lambda: self._answers.pop(seq, None), f"the answer to {name}")

    def release(self, hold: dict[str, Any], action: str = "continue", **more: Any) -> None:
        self.request("release", hold=hold["id"], action=action, client="test", **more)


class Adapter:
    def __init__(self, folder: Path, config: dict[str, Any] | None = None, silent: bool = False) -> None:
        self.folder = folder
        self.config = config or configuration()
        self.silent = silent
        self.token = secrets.token_hex(8)
        self.processes: list[Process] = []
        self.events: list[tuple[Process, dict[str, Any]]] = []
        self._taken = 0
        self.patience = PATIENCE
        self._taken_events: set[int] = set()
        self._changed = threading.Condition()
        self._sockets = tempfile.mkdtemp(prefix="tb")
        self.address = os.path.join(self._sockets, "s")
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(self.address)
        self._server.listen(64)
        self.stop_file = folder / "stop"
        self.stop_file.write_bytes(b"\0")
        spool = folder / "spool"
        spool.mkdir(exist_ok=True)
        self.connect_file = folder / "connect.json"
        self.connect = {
            "version": 1,
            "address": self.address,
            "token": self.token,
            "spool": str(spool),
            "stopFile": str(self.stop_file),
        }
        self.connect_file.write_text(json.dumps(self.connect))
        self._closing = False
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._ping, daemon=True).start()

    # ------------------------------------------------------------ serving

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        process: Process | None = None
        try:
            for line in stream:
                message = json.loads(line)
                with self._changed:
                    if process is None:
                        assert message["event"] == "hello" and message["token"] == self.token
                        process = Process(self, connection, message)
                        if self.silent:
                            continue
                        process.write({"welcome": True, "version": 1, "configuration": self.config})
                        self.processes.append(process)
                    elif "re" in message:
                        process._answers[message["re"]] = message
                    else:
                        self.events.append((process, message))
                    self._changed.notify_all()
        except (OSError, ValueError):
            pass
        if process is not None:
            with self._changed:
                process.closed = True
                self._changed.notify_all()

    def _ping(self) -> None:
        wait = threading.Event()
        while not self._closing:
            wait.wait(1)
            for process in list(self.processes):
                if not process.closed:
                    try:
                        process.write({"seq": 0, "request": "ping"})
                    except OSError:
                        pass

    # ------------------------------------------------------------ expectations

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + self.patience
        with self._changed:
            while True:
                found = condition()
                if found:
                    return found
                left = end - time.monotonic()
                if left <= 0:
                    raise AssertionError(
                        f"waited in vain for {what}; events so far: {[e for _, e in self.events][-12:]}"
                    )
                self._changed.wait(min(left, 0.5))

    def event(
        self, name: str, where: Callable[[dict[str, Any]], bool] = lambda event: True
    ) -> tuple[Process, dict[str, Any]]:
        """The first event of this name that was not taken yet."""

        def look() -> Any:
            for index, (process, event) in enumerate(self.events):
                if index not in self._taken_events and event["event"] == name and where(event):
                    self._taken_events.add(index)
                    return process, event
            return None

        return self.wait(look, f"the event {name}")

    def held(self, where: Callable[[dict[str, Any]], bool] = lambda hold: True) -> tuple[Process, dict[str, Any]]:
        process, event = self.event("held", lambda event: where(event["hold"]))
        return process, event["hold"]

    def process(self, index: int = 0) -> Process:
        self.wait(lambda: len(self.processes) > index, "a process")
        return self.processes[index]

    def configure(self, **changes: Any) -> list[dict[str, Any]]:
        self.config = {**self.config, **changes, "generation": self.config["generation"] + 1}
        return self.process().request("configure", configuration=self.config)["breakpoints"]

    def stop_all(self, stop: bool) -> None:
        """The stop byte. In its place: an app that looks at it while the file is empty would end."""
        with open(self.stop_file, "r+b", buffering=0) as file:
            file.write(bytes([stop]))

    def close(self) -> None:
        self._closing = True
        self._server.close()
        for process in self.processes:
            try:
                process.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            process.connection.close()
        try:
            os.unlink(self.address)
            os.rmdir(self._sockets)
        except OSError:
            pass


class App:
    """
    The app as a real process, started as the launcher starts it.

    What the tester's environment asks of Python is left out (that nothing compiled is kept, that output has no buffer): each test says what it needs.
    """

    def __init__(
        self,
        adapter: Adapter | None,
        command: list[str],
        cwd: Path,
        env: dict[str, str] | None = None,
        stdin: str | None = None,
    ) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLBREAK", "PYTHON"))}
        if adapter is not None:
            environment["PYTHONPATH"] = str(BOOT)
            environment["TOOLBREAK_CONNECT"] = str(adapter.connect_file)
        environment.update(env or {})
        self.popen = subprocess.Popen(
            [sys.executable, *command],
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self) -> tuple[int, str, str]:
        """(exit code, stdout, stderr) once it ended."""
        try:
            out, err = self.popen.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            out, err = self.popen.communicate()
            raise AssertionError(f"the app did not end\n{out}\n{err}") from None
        return self.popen.returncode, out, err

    def say_last(self, text: str) -> tuple[int, str, str]:
        """`finish`, with the last of its standard input."""
        stdin = self.popen.stdin
        assert stdin is not None
        stdin.write(text)
        stdin.close()
        self.popen.stdin = None
        return self.finish()

    def kill(self) -> None:
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if stream is not None:
                stream.close()
