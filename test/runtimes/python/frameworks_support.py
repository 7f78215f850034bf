"""Runs an app under the framework plugins with a scenario, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
APPS = ROOT / "fixtures" / "apps"
TRIAGE = APPS / "langgraph" / "triage.py"


@dataclass
class Outcome:
    code: int
    out: str
    err: str
    report: list[dict[str, Any]] = field(default_factory=lambda: [])

    def of(self, what: str, **wanted: Any) -> list[dict[str, Any]]:
        return [e for e in self.report if e["what"] == what and all(e.get(k) == v for k, v in wanted.items())]

    def one(self, what: str, **wanted: Any) -> dict[str, Any]:
        found = self.of(what, **wanted)
        assert found, f"no {what} {wanted} in {self.err[-2000:]}"
        return found[0]

    def names(self, kind: str) -> list[str]:
        return [entry["name"] for entry in self.of("start", kind=kind)]

    def chain(self, start: dict[str, Any]) -> list[tuple[str, str]]:
        """(kind, name) of a call and those around it, innermost first."""
        by_number = {entry["call"]: entry for entry in self.of("start")}
        found: list[tuple[str, str]] = []
        entry: dict[str, Any] | None = start
        while entry is not None:
            found.append((entry["kind"], entry["name"]))
            entry = by_number.get(entry["parent"])
        return found


def run(app: Path, *args: str, scenario: str = "") -> Outcome:
    """The app under the plugins. One of the fixtures runs once for equal questions: LangGraph takes a second to import."""
    return (_run_once if APPS in app.parents else _run)(app, args, scenario)


def _run(app: Path, args: tuple[str, ...], scenario: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        environment = {**os.environ, "SCENARIO": scenario, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, str(HERE / "frameworks_driver.py"), str(report), str(app), *args]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    return Outcome(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines])


def bare(app: Path, *args: str) -> Outcome:
    """The app without us. A fixture runs once for equal arguments."""
    return (_bare_once if APPS in app.parents else _bare)(app, args)


def _bare(app: Path, args: tuple[str, ...]) -> Outcome:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(app), *args], capture_output=True, text=True, env=environment, timeout=120
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


_run_once = cache(_run)
_bare_once = cache(_bare)


def line_of(path: Path, marker: str) -> int:
    """The line that ends with the comment `# BP: marker`."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text.endswith(f"# BP: {marker}"):
            return number
    raise AssertionError(f"no marker {marker} in {path}")


def on(name: str, boundary: str, answer: str, where: str = "True") -> str:
    """A scenario that answers one stop: `answer` is a dict, in which `call` is the call."""
    return f"""
def stop(call, boundary):
    if call.name == {name!r} and boundary == {boundary!r} and ({where}):
        return {answer}
"""
