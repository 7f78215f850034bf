"""The short ways of a recorded call, of a breakpoint that is passed by, and of a state that did not change: as exact as the long ones."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_adapter import RECORD, dot
from spool_reader import END, START, STATE, all_frames, read_folder
from state_file import StateFile as File
from toolbreak._call_types import CANCELLED, ERROR
from toolbreak._masking import Masking
from toolbreak._memo import Memo
from toolbreak._states import StateEncoder
from toolbreak._values import Settings
from toolbreak._writer import Writer

pytestmark = pytest.mark.essential

FUNCTION = SimpleNamespace(id=1, kind="node", name="plan", qualname="plan", module="app", path=None, line=0, end_line=0)
TASK = SimpleNamespace(id=1, name="main", parent=None)


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        raise AssertionError("code of the app ran")

    __hash__ = None  # type: ignore[assignment]


class Other(Point):
    pass


def documents() -> Any:
    return [
        {"id": f"doc {number}", "text": "some words " * 20, "tags": ["a", "b"], "score": number / 3}
        for number in range(10)
    ]


def whole(state: Any) -> Any:
    return Settings().encode(state)


def change_text(value: Any) -> None:
    value[3]["text"] += "!"


def change_key(value: Any) -> None:
    value[3]["name"] = value[3].pop("score")


def change_order(value: Any) -> None:
    value[0], value[1] = value[1], value[0]


def change_boundary(value: Any) -> None:
    value[0]["tags"].append(value[1]["tags"].pop(0))


def change_to_equal(value: Any) -> None:
    value[0]["score"] = False  # Equal to 0.0, and another thing.


def change_to_object(value: Any) -> None:
    value[2]["score"] = Point(1)


def change_to_secret(value: Any) -> None:
    value[2]["text"] = "Authorization: Bearer abcdefgh12345678"


@pytest.mark.parametrize(
    "change",
    [
        change_text,
        change_key,
        change_order,
        change_boundary,
        change_to_equal,
        change_to_object,
        change_to_secret,
        list.clear,
    ],
)
def test_a_change_in_place_is_seen(change: Any) -> None:
    file = File()
    value = documents()
    for count in range(4):
        assert file.write({"count": count, "documents": value}) == whole({"count": count, "documents": value})
    assert file.size < 200
    change(value)
    for count in range(4):
        assert repr(file.write({"count": count, "documents": value})) == repr(
            whole({"count": count, "documents": value})
        )


def test_fields_of_objects_are_looked_at() -> None:
    file = File()
    value = [Point(f"text {number} " * 30) for number in range(5)]
    for _ in range(4):
        first = file.write({"points": value})
    value[2].x = ["other"]
    second = file.write({"points": value})
    assert first["points"][2] != second["points"][2] and second == whole({"points": value})


def test_fields_that_stand_in_the_state_as_a_dict_are_looked_at() -> None:
    file = File()
    point = Point("text " * 200)
    for _ in range(4):
        file.write({"fields": vars(point)})
    point.x = "other " * 200
    assert file.write({"fields": vars(point)}) == {"fields": {"x": "other " * 200}}


def test_what_had_no_fields_and_gets_some_is_looked_at() -> None:
    file = File()
    bare = Point.__new__(Point)
    value = ["words " * 200, {}, bare, vars(bare), []]
    for _ in range(4):
        assert file.write({"points": value}) == whole({"points": value})
    for change in (lambda: setattr(bare, "x", 1), lambda: value[1].update(x=2), lambda: setattr(bare, "x", "one")):
        change()
        for _ in range(3):
            assert file.write({"points": value}) == whole({"points": value})


def test_an_object_that_gets_another_type_or_other_fields_is_looked_at() -> None:
    file = File()
    value = [Point(f"text {number} " * 30) for number in range(5)]
    for _ in range(4):
        file.write({"points": value})
    vars(value[1])["x"] = "other"
    for change in (lambda: setattr(value[2], "__class__", Other), lambda: setattr(value[3], "__dict__", {"y": 1})):
        change()
        for _ in range(3):
            assert file.write({"points": value}) == whole({"points": value})


def test_what_did_not_change_is_not_walked_again() -> None:
    memo = Memo()
    value = documents()
    part = memo.look(value)
    assert part is not None and memo.remember(part, 1000)
    assert memo.find(value) is part
    assert memo.find(documents()) is None
    value[0]["score"] = 99
    assert memo.find(value) is None


def test_a_list_that_was_made_anew_refers_to_what_it_had() -> None:
    file = File()
    value = [{**document, "more": "words " * 50} for document in documents()]
    for _ in range(3):
        file.write({"documents": value})
    longer = [*value, {"id": "new", "text": "other words " * 50}]
    assert file.write({"documents": longer}) == whole({"documents": longer})
    assert file.size < 2000


def test_a_key_of_a_state_says_no_less_elsewhere() -> None:
    """That of what is typed somewhere is a secret by what stands beside it."""
    settings = Settings()
    file = File(settings)
    typed = {"selector": "#password-field", "text": "hunter2hunter2"}
    for state in ({"text": "words " * 100, "keys": 1}, Point(5), {"messages": [Point(1)], "text": "a"}):
        for _ in range(4):
            file.write(state)
    assert settings.encode(typed) == whole(typed) != typed
    assert file.write({"typed": typed, "more": [typed]}) == whole({"typed": typed, "more": [typed]})


def test_what_another_thread_adds_during_the_look_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    file = File()
    look = Memo.look
    value = [Point(f"text {number} " * 20) for number in range(3)]

    def slow(memo: Memo, looked_at: Any, *rest: Any) -> Any:
        if looked_at is value and len(value) < 4:
            value.append(Point("late " * 20))
        return look(memo, looked_at, *rest)

    monkeypatch.setattr(Memo, "look", slow)
    for _ in range(14):
        file.write({"points": value})
        if len(value) == 4:
            assert file.write({"points": value}) == whole({"points": value})
    assert len(value) == 4


def test_a_long_list_of_what_is_the_same_is_referred_to_however_many_there_are() -> None:
    file = File()
    state = {f"list{name}": [Point(f"text {name} {number} " * 10) for number in range(1500)] for name in range(3)}
    for count in range(14):
        file.write({**state, "count": count})
    assert file.size < 200


def test_a_state_that_was_handed_on_in_another_one_is_no_deeper_than_it_may_be() -> None:
    limits = {"max_depth": 24, "max_value_bytes": 100_000}
    file = File(Settings(**limits))
    state: dict[str, Any] = {"messages": [Point("words " * 20)]}
    for _ in range(40):
        state = {"messages": [Point("words " * 20)], "inner": state}
    levels = []
    for _ in range(4):
        written, level = file.write({"state": state})["state"], 0
        while type(written) is dict and "inner" in written:
            written, level = written["inner"], level + 1
        levels.append(level)
    # What is a part is written as if it stood alone.
    assert levels == [levels[0]] * 4 and levels[0] <= 24 + 2, levels


def test_a_member_of_a_set_that_nobody_looked_at_is_seen() -> None:
    held = {"a", "b"}
    part = Memo().look([held])
    assert part is not None and part._is_whole({id(part.root), id(held)})
    held.add(frozenset((1, 2)))
    assert not part._is_whole({id(part.root), id(held)})


def test_large_texts_are_written_once() -> None:
    file = File()
    text = "words " * 5000
    for _ in range(3):
        assert file.write({"text": text, "again": text}) == {"text": text, "again": text}
    assert file.size < 200


def test_a_number_has_one_content() -> None:
    file = File()
    value = documents()
    seen: set[int] = set()
    for count in range(20):
        value[0]["score"] = count // 4
        before = dict(file.kept)
        file.write({"documents": value})
        assert all(file.kept[number] == content for number, content in before.items())
        seen |= set(file.kept)
    assert len(seen) > 3


def test_nothing_is_kept_alive_for_long() -> None:
    file = File()

    class Thing:
        def __init__(self) -> None:
            self.text = "words " * 100

    thing: Any = Thing()
    for _ in range(3):
        file.write({"thing": thing})
    dead = weakref.ref(thing)
    thing = None
    for count in range(64):
        assert file.write({"count": count}) == {"count": count}
    gc.collect()
    assert dead() is None


def end_for_want_of_room(writer: Writer) -> None:
    writer.state(SimpleNamespace(number=1), "before", {"text": "words " * 100_000})
    assert writer.ended


@pytest.mark.parametrize("end", [end_for_want_of_room, Writer.close, lambda writer: writer.after_fork("q")])
def test_a_recording_that_is_over_keeps_nothing(tmp_path: Path, end: Any) -> None:
    told: list[str] = []
    settings = Settings.from_record({"references": True, "maxValueBytes": 1_000_000})
    writer = Writer(str(tmp_path), "p", settings, limit=300 * 1024, problem=told.append)
    thing: Any = Point("words " * 100)
    for _ in range(3):
        writer.state(SimpleNamespace(number=1), "before", {"thing": thing})
    dead = weakref.ref(thing)
    thing = None
    gc.collect()
    assert dead() is not None
    end(writer)
    gc.collect()
    assert dead() is None


def test_without_a_reader_of_references_all_is_written() -> None:
    file = File(Settings.from_record({"maxDepth": 50}))
    value = documents()
    for _ in range(4):
        assert file.write({"documents": value}) == {"documents": value}
    assert file.size > 2000 and not file.kept


def test_secret_keys_and_odd_states_take_the_long_way() -> None:
    file = File()
    for state in (
        {"password": documents()},
        {1: documents()},
        {},
        [1],
        Point(documents()),
        {"big": 1 << 5000},
        {"t": ("authorization", "x")},
        {"list": [*documents(), "--password", "hunter2 " * 100]},
        {"name": "password", "value": "hunter2 " * 100},
    ):
        for _ in range(3):
            assert repr(file.write(state)) == repr(whole(state))
    assert "doc 1" not in repr(file.write({"password": documents()}))


def test_ids_in_attributes_are_masked_where_their_name_says_so() -> None:
    number = "0b2b9a5e-1c7d-4c65-9a55-6d0f2f7f3c11"
    for attributes in (
        {"id": number, "step": 1, "ns": f"node:{number}"},
        {"id": number, "api_key": number},
        {"ns": f"password:{number}"},
        {"ns": f"sk-{number}"},
        {"step": None},
        {"step": 1 << 5000},
        {"short": "a"},
        {"text": number + " "},
    ):
        for _ in range(2):
            assert StateEncoder(Settings()).attributes(attributes) == whole(attributes)
    own = Settings(masking=Masking(patterns=["0b2b"]))
    assert StateEncoder(own).attributes({"id": number}) == own.encode({"id": number}) != {"id": number}


def test_a_large_state_is_cut() -> None:
    file = File(Settings(max_value_bytes=2000))
    value = documents()
    for _ in range(3):
        state = file.write({"documents": value, "more": value})
        assert file.size < 3100 and "cut" in repr(state)


def test_states_are_forgotten_with_their_workflow(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path), "p")
    workflow = SimpleNamespace(**{**FUNCTION.__dict__, "id": 2, "kind": "workflow"})
    value = documents()
    fields: dict[str, Any] = dict(task=TASK, parent=None, started_ns=5, args={}, result=None, error=None, attributes={})
    node = SimpleNamespace(number=1, function=FUNCTION, **fields)
    for _ in range(3):
        writer.state(node, "before", {"documents": value})
    assert writer._states._memo.find(value) is not None
    writer.end(SimpleNamespace(number=2, function=workflow, **fields), 0)
    assert writer._states._memo.find(value) is None
    states = [frame[4] for frame in all_frames(tmp_path) if frame[0] == STATE]
    assert states == [{"documents": value}] * 3


def test_a_file_that_is_full_is_followed_by_one_that_stands_alone(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path), "p")
    fields: dict[str, Any] = dict(task=TASK, parent=None, started_ns=5, args={}, result=None, error=None, attributes={})
    node = SimpleNamespace(number=1, function=FUNCTION, **fields)
    value = documents()
    states: list[Any] = []
    for count in range(400):
        state = {"count": count, "documents": value, "new": f"{count} " * 600}
        states.append(whole(state))
        writer.state(node, "after", state)
    files = list(read_folder(tmp_path).values())
    assert len(files) > 1
    assert [frame[4] for frames in files for frame in frames if frame[0] == STATE] == states


def test_a_state_that_is_recorded_while_another_is_written(tmp_path: Path) -> None:
    """As from a signal handler: whatever comes in between, each reference is to what stands before it in its own file."""
    writer = Writer(str(tmp_path), "p", Settings())
    fields: dict[str, Any] = dict(task=TASK, parent=None, started_ns=5, args={}, result=None, error=None, attributes={})
    node = SimpleNamespace(number=1, function=FUNCTION, **fields)
    value, other = documents(), documents()
    for _ in range(3):
        writer.state(node, "before", {"documents": value})
    encoder = writer._states
    payload = encoder.payload
    expected = [{"documents": value}] * 3

    def interrupted(*args: Any, **named: Any) -> bytes:
        made = payload(*args, **named)
        encoder.payload = payload  # type: ignore[method-assign]
        other[0]["score"] = len(expected)
        writer.state(node, "after", {"documents": other, "filler": f"{len(expected)} " * 40_000})
        expected.append({"documents": whole(other), "filler": f"{len(expected)} " * 40_000})
        return made

    for _ in range(12):
        encoder.payload = interrupted  # type: ignore[method-assign]
        writer.state(node, "before", {"documents": value})
        expected.append({"documents": value})
    files = list(read_folder(tmp_path).values())
    assert len(files) > 1
    assert [frame[4] for frames in files for frame in frames if frame[0] == STATE] == expected


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
    adapter = scene.adapter(record={**RECORD, "enabled": True, "functions": ["@usercode"]})
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
    adapter = scene.adapter(record={**RECORD, "enabled": True, "functions": ["@usercode"]})
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
    adapter = scene.adapter(record={**RECORD, "enabled": True, "functions": ["@usercode"]})
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
