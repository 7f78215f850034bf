"""A workflow's state that did not change, or in a part, is written by what is new: as exactly as if all of it were written."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import langgraph.graph  # noqa: F401  What compiled code is prepared with.
import pytest
from spool_reader import STATE, all_frames, read_folder
from state_file import StateFile as File
from toolbreak import _optional
from toolbreak._frameworks import _short
from toolbreak._masking import Masking
from toolbreak._memo import Memo, Part
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
    return Settings(seconds=60.0).encode(state)


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


@pytest.mark.skipif(_optional.told_items is None, reason="the compiled part is not built")
def test_a_part_that_is_dropped_while_it_is_looked_at_is_held() -> None:
    """Classes that do not last are read by Python code, in the middle of which another thread may run."""
    assert _short._prepare()
    parts: dict[int, Part] = {}
    item = Point(1)

    others: list[Part] = []

    def read(looked_at: Any) -> Any:
        if parts:
            parts.clear()
            others.extend(Part(item) for _ in range(200))  # They would have its place.
        return vars(looked_at)

    part = Part(item)
    part.snapshot, part.sized, part.size = _optional.Snapshot([], [(read, [item])]), (), 50
    same, serial = part.same, part.serial
    parts[id(item)] = part
    del part
    pieces: list[bytes] = []
    assert _optional.told_items([item, item], 0, pieces, parts, {serial}, 7) == 50
    assert pieces == [same] and parts == {}
    assert len(others) == 200 and all(other.used == 0 for other in others)
