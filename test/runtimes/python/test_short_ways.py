"""The short ways of a recorded call and of a breakpoint that is passed by: as exact as the long ones."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import RECORD, RECORD_FUNCTIONS, dot
from spool_reader import END, START, all_frames
from toolbreak._call_types import CANCELLED, ERROR
from toolbreak._values import Settings

pytestmark = pytest.mark.essential


APP = """
    import sys


    class Box:
        def __init__(self):
            self.values = []

        def put(self, value, *rest, key=None, **more):
            self.values.append(value)
            return inner(value)


    def inner(value):
        if value == 3:
            raise ValueError("three")
        return {"value": value}


    def main():
        box = Box()
        for number in range(6):
            try:
                box.put(number, 1, 2, key="k", other=None)
            except ValueError:
                pass
        print(len(box.values))


    if __name__ == "__main__":
        main()
"""


def test_recorded_calls_are_whole_and_nested(scene: Any) -> None:
    scene.write("main.py", APP)
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "6\n", "")
    frames = all_frames(adapter.folder / "spool")
    names = {frame[1]: frame[3] for frame in frames if frame[0] == 1}
    starts = {frame[1]: frame for frame in frames if frame[0] == START}
    ends = {frame[1]: frame for frame in frames if frame[0] == END}
    assert set(starts) == set(ends)
    puts = [frame for frame in starts.values() if names[frame[3]] == "put"]
    assert [frame[6] for frame in puts] == [
        {"value": n, "rest": (1, 2), "key": "k", "more": {"other": None}} for n in range(6)
    ]
    inner = [frame for frame in starts.values() if names[frame[3]] == "inner"]
    assert [names[starts[frame[2]][3]] for frame in inner] == ["put"] * 6
    assert [ends[frame[1]][3] for frame in inner] == [0, 0, 0, 1, 0, 0]
    assert {frame[4] for frame in starts.values()} == {1}


ENDS = """
    import asyncio
    import sys

    class Cancelled(BaseException):
        pass

    class Failed(BaseException):
        pass

    class Late(asyncio.CancelledError):
        pass

    def left(error):
        raise error

    def failed(error):
        raise error

    group = sys.version_info >= (3, 11)
    for error in (Late(), Cancelled(), KeyboardInterrupt(), SystemExit(0), GeneratorExit(), *([BaseExceptionGroup("all", [Late()])] if group else [])):
        try:
            left(error)
        except BaseException:
            pass
    for error in (Failed(), BaseException("top"), ValueError(), *([BaseExceptionGroup("some", [Late(), ValueError()])] if group else [])):
        try:
            failed(error)
        except BaseException:
            pass
"""


def test_what_ends_a_call_without_a_failure_is_known_by_its_class(scene: Any) -> None:
    scene.write("main.py", ENDS)
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "", "")
    frames = all_frames(adapter.folder / "spool")
    names = {frame[1]: frame[3] for frame in frames if frame[0] == 1}
    whose = {frame[1]: names[frame[3]] for frame in frames if frame[0] == START}
    ends = [(whose[frame[1]], frame[3]) for frame in frames if frame[0] == END]
    assert len(ends) >= 8 and set(ends) == {("left", CANCELLED), ("failed", ERROR)}


@pytest.mark.parametrize(
    ("more", "value"),
    [
        ({"condition": "value == 4"}, 4),
        ({"hitCondition": ">4"}, 4),
        ({"ignoreCount": 2}, 2),
        ({"condition": "value > 1", "hitCondition": "2"}, 3),
    ],
)
@pytest.mark.parametrize("recorded", [True, False])
def test_a_breakpoint_that_was_passed_by_stops_at_the_right_call(
    scene: Any, more: Any, value: int, recorded: bool
) -> None:
    path = scene.write("main.py", APP)
    adapter = scene.adapter(record={**RECORD, "enabled": recorded}, breakpoints=[dot(1, path, "def inner", **more)])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert hold["frames"][0]["name"] == f"inner(value={value})"
    adapter.configure(breakpoints=[])
    process.release(hold)
    assert app.finish() == (0, "6\n", "")


RETURNS = """
    import threading
    import toolbreak


    def note(what):
        return what


    class Closing:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            note("with")


    def numbers():
        try:
            yield 1
        finally:
            note("for")


    def in_try():
        try:
            return 1
        finally:
            note("try")


    def in_with():
        with Closing():
            return 2


    def in_for():
        for number in numbers():
            return number


    def in_while():
        while True:
            if note("while"):
                return 4


    def told(number):
        toolbreak.current_call().set(model="m")
        return number


    def login(password, name):
        return {"password": password, "name": name, "value": 1}


    def large(number):
        return {"text": "word " * number, "number": 1 << number}


    def plain(number, text):
        return number


    def deep(number):
        return deep(number - 1) if number else None


    def main():
        in_try(), in_with(), in_for(), in_while(), told(3), login("hunter2", "ann"), large(5000)
        threads = [threading.Thread(target=lambda: [plain(each, "x" * 200) for each in range(1500)]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        deep(5)


    if __name__ == "__main__":
        toolbreak.current_call = __import__("toolbreak._calls", fromlist=["current"]).current
        main()
"""


def test_a_call_ends_after_all_that_runs_in_it_and_where_its_value_is_not_plain(scene: Any) -> None:
    scene.write("main.py", RETURNS)
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    assert scene.run(adapter, "main.py").finish() == (0, "", "")
    frames = all_frames(adapter.folder / "spool")
    names = {frame[1]: frame[3] for frame in frames if frame[0] == 1}
    starts = {frame[1]: frame for frame in frames if frame[0] == START}
    ends = {frame[1]: frame for frame in frames if frame[0] == END}
    assert set(starts) == set(ends)
    assert all(starts[frame[2]][5] <= frame[5] for frame in starts.values() if frame[2])
    assert all(ends[frame[1]][2] <= ends[frame[2]][2] for frame in starts.values() if frame[2])

    def of(name: str) -> list[Any]:
        return [number for number, frame in starts.items() if names[frame[3]] == name]

    # The generator is closed.
    assert [number for number, frame in ends.items() if frame[3]] == of("numbers")
    notes = [(starts[number][6]["what"], names[starts[starts[number][2]][3]]) for number in of("note")]
    assert notes == [("try", "in_try"), ("with", "__exit__"), ("for", "numbers"), ("while", "in_while")]
    around = {
        names[starts[number][3]]: names[starts[starts[number][2]][3]] for number in of("__exit__") + of("numbers")
    }
    assert around == {"__exit__": "in_with", "numbers": "in_for"}
    assert [ends[of(name)[0]][4] for name in ("in_try", "in_with", "in_for", "in_while")] == [1, 2, 1, 4]
    assert ends[of("told")[0]][4:] == (3, {"model": "m"})
    (login,) = of("login")
    assert starts[login][6]["name"] == "ann" and starts[login][6]["password"][:2] == (..., "masked")
    assert ends[login][4] == {**starts[login][6], "value": 1}
    text = ends[of("large")[0]][4]
    assert text["text"] == "word " * 5000 and text["number"] == Settings().encode(1 << 5000)
    assert sorted(starts[number][6]["number"] for number in of("plain")) == sorted([*range(1500)] * 2)
    assert len({starts[number][4] for number in of("plain")}) == 2
    assert [starts[number][6]["number"] for number in of("deep")] == [5, 4, 3, 2, 1, 0]
    assert all(starts[above][1] == starts[below][2] for above, below in zip(of("deep"), of("deep")[1:]))
