"""What a generator calls in its handlers, after it was left early or had an error thrown in, is inside it, and sees what it sees without us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spool_reader import END, FUNCTION, START, read_folder

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtimes/python"
pytestmark = pytest.mark.essential


def run(**env: str) -> tuple[str, str]:
    command = [sys.executable, str(HERE / "generator_ends_app.py")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=120)
    assert done.returncode == 0
    return done.stdout, done.stderr


def calls(folder: Path) -> list[Any]:
    """Each call as a list of its name and of those inside it, in the order in which they began; every one of them has ended once."""
    functions: dict[int, str] = {}
    ended: list[int] = []
    top: list[Any] = []
    inside: dict[int, list[Any]] = {0: top}
    (spools,) = {path.parent for path in folder.rglob("*.spool")}
    frames = [frame for frames in read_folder(spools).values() for frame in frames]
    for frame in frames:
        if frame[0] == FUNCTION:
            functions[frame[1]] = frame[3]
        elif frame[0] == END:
            ended.append(frame[1])
    for frame in sorted((frame for frame in frames if frame[0] == START), key=lambda frame: frame[1]):
        name = functions[frame[3]]
        inside[frame[1]] = made = [f"{name} {frame[6]['where']}" if name == "note" else name]
        inside[frame[2]].append(made)
    assert sorted(ended) == sorted(set(inside) - {0})
    return [told(each) for each in top]


def told(call: list[Any]) -> Any:
    """A call that has none inside it is its name alone."""
    return call[0] if len(call) == 1 else [call[0], *map(told, call[1:])]


LOCKED = ["locked", "__init__", "__enter__", "__init__", "__enter__", "note before"]
EXITS = [["__exit__", "note exit inner"], ["__exit__", "note exit outer"]]
CHOSEN = ["chosen", "note chosen"]
ENDED = ["delegates", ["inner", "note inner"], "note delegates"]
LOOPED = ["loops", ["inner", "note inner"], "note loops"]
#: By generator: what is inside it where an error is thrown in, and where it is left.
GENERATORS: dict[str, tuple[Any, Any]] = {
    "closed": (["closed", "note closed"], ["closed", "note closed"]),
    "ends_itself": ("ends_itself", ["ends_itself", "note ends itself"]),
    "locked": ([*LOCKED, *EXITS], [*LOCKED, *EXITS]),
    "goes_on": (
        [
            "goes_on",
            "note handled thrown",
            "note after 0",
            "note got None",
            "note after 1",
            "note got None",
            "note after 2",
        ],
        "goes_on",
    ),
    "chooses": (["chooses", CHOSEN, CHOSEN, "note right"], ["chooses", CHOSEN, CHOSEN]),
    "delegates": (ENDED, ENDED),
    "loops": (LOOPED, LOOPED),
    "fails": (["fails", "note fails"], ["fails", "note fails"]),
}
FAILED = ["session", "note rollback bad", "note release"]
STREAM = ["stream", "__init__", "__aenter__"]
CLOSED = ["note stream 0", ["__aexit__", "note aexit stream"]]


def expected() -> list[Any]:
    main: list[Any] = ["main"]
    for name, (thrown, left) in GENERATORS.items():
        goes_on = ["note went on"] if name in ("goes_on", "chooses") else ["note raised"]
        closes = "closes" if name == "fails" else ["closes", "note closes"]
        main += [["throws", thrown, *goes_on], ["throws", left, "note raised"], left, closes]
    good = ["session", "note commit", "note release"]
    main += [["work", good, "note in good", "note between", FAILED, FAILED]]
    main += [["leaves", ["closed", "note closed"], "note leaves", "note left"]]
    main += [["dropped", ["closed", "note closed"], "note dropped"]]
    main += [["closed", "note closed"]]
    goes_on = ["note stream goes on", "note stream 0", "note stream 1", ["__aexit__", "note aexit stream"]]
    main += [
        [
            "main_async",
            ["leaves_stream", [*STREAM, *CLOSED], "note left stream", "note later"],
            ["closes_stream", [*STREAM, *CLOSED], "note closed stream"],
            ["throws_into_stream", [*STREAM, *goes_on], "note thrown"],
            ["connects", ["connected", "note disconnected by an error", "note disconnected"]],
            [*STREAM, *CLOSED],
            "note end of async",
        ],
        "note end",
    ]
    return [main, ["closes", "note closes"]]


@pytest.mark.parametrize("compiled", ["", "0"])
def test_calls_in_handlers_are_inside_the_generator(tmp_path: Path, compiled: str) -> None:
    out = run(
        TOOLBREAK_COMPILED=compiled,
        TOOLBREAK_RECORD=str(tmp_path),
        TOOLBREAK_RECORD_FUNCTIONS="@usercode",
        PYTHONPATH=os.pathsep.join([str(RUNTIME / "toolbreak/boot"), str(RUNTIME)]),
    )
    assert out == run()
    assert calls(tmp_path) == expected()
