"""The compiled part of the runtime: the same bytes, the same answers, and nothing that Python code would have masked."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from marshal import dumps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from compiled_support import KEYS, NO_ROOM, NOT_PLAIN, PIECES, WRITTEN, File, check, known
from spool_reader import END, START, STATE, read_segment
from test_values_masking import SECRETS
from toolbreak import _memo, _optional, _secrets, _segments
from toolbreak._static import shape_of
from toolbreak._values import Settings

pytestmark = [
    pytest.mark.essential,
    pytest.mark.skipif(
        _optional.Cursor is None and not Path(_segments.__file__).with_name("_compiled.abi3.so").exists(),
        reason="the compiled part is not built",
    ),
]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    made = File(tmp_path / "1-1.spool")
    yield made
    made.segment.close()


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        (),
        {"a": None, "b": [True, False, 0, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**62, -(2**63) + 1]},
        [0.0, -0.0, float("nan"), float("inf"), 1e300, 0.1],
        {"name": "Ann", "text": "Some words: and more (of them), with a dash - and 10:30.", "tags": ("a", "b", "c")},
        {"clé": "é" * 100, "emoji": "\U0001f600 words and words", "lone": "a \ud800 surrogate, which no file has"},
        [list(range(100)), [1.5] * 100, [["deep", ["deeper", [1]]], 2, 3]],
        "x" * 60_000,
        "x" * 1_000_000,
        "é" * 200_000,
        {f"key{number}": {"name": f"entry {number}", "values": list(range(20))} for number in range(500)},
        {"value": 5, "Value": {"value": [{"value": 1.5}], "more": "words"}},
        "node:1e0b6a6c-3c6c-4a4c-8d60-7e8e2e7f1a2b",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_plain_is_written_as_python_code_writes_it(tmp_path: Path, value: Any) -> None:
    assert check(tmp_path, value) == WRITTEN


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter22"},
        {"name": "DB_PASSWORD", "value": "hunter22"},
        {"Value": "hunter22", "more": [1], "key": "order"},
        {"auth": ("me", "hunter22")},
        ["--password", "hunter22"],
        ["x-api-key", "hunter22"],
        "Authorization: Bearer abcdefgh12345678",
        "my password = hunter22",
        {"text": "sk-abcdefghij0123456789klmn"},
        {1: "a key that is no text"},
        [2**80],
        [b"bytes that are looked at"],
        [1j],
        {1, 2},
        [...],
        (..., "same", 3),
        object(),
        [type("Text", (str,), {})("of a class of the app's")],
        [type("Number", (int,), {})(5)],
        [type("Map", (dict,), {})(a=1)],
        "x" * ((1 << 20) + 1),
        "é" * 300_000,
    ],
    ids=lambda value: repr(value)[:60],
)
def test_everything_else_is_left_to_python_code(tmp_path: Path, value: Any) -> None:
    assert check(tmp_path, value) == NOT_PLAIN


def made_up(choose: random.Random, depth: int) -> Any:
    way = choose.randrange(9 if depth else 6)
    if way < 2:
        return "".join(choose.choice(PIECES) for _ in range(choose.randrange(7)))
    if way < 6:
        return choose.choice([None, True, 0, -1, 7.5, 1 << 40, -(1 << 62), (), "words", b"b", 1j, 1 << 70])
    parts = [made_up(choose, depth - 1) for _ in range(choose.choice((0, 1, 2, 2, 3, 14)))]
    return parts if way == 6 else tuple(parts) if way == 7 else {choose.choice(KEYS): part for part in parts}


def test_whatever_is_written_is_what_python_code_writes(tmp_path: Path) -> None:
    choose = random.Random(7)
    found = [check(tmp_path, made_up(choose, 3)) for _ in range(600)]
    assert found.count(WRITTEN) > 100 and found.count(NOT_PLAIN) > 100


def test_a_key_or_a_text_that_nobody_looked_at_is_not_written(file: File) -> None:
    made = Settings()
    assert file.put(made.rules, (9, {"name": 1})) == NOT_PLAIN
    made.encode({"name": 1})
    assert file.put(made.rules, (9, {"name": 1})) == WRITTEN
    text = "See https://example.org/?code=2 for more"
    assert file.put(made.rules, (9, {"name": text})) == NOT_PLAIN
    made.encode(text)
    assert file.put(made.rules, (9, {"name": text})) == WRITTEN
    assert file.frames() == [(9, {"name": 1}), (9, {"name": text})]


PAIRS: list[Any] = [
    ["mug", "n"],
    ("mug", "n"),
    {"lines": ["mug", "n"]},
    [("mug", "n"), ["", "n"], ["Grüße", "an alle"], ["auth", "n"], ["value", "n"], ["12", "--password"]],
    ["a long question. " * 20, "my answer"],
    ["\u00e9" * 201 + "password", "n"],
]


@pytest.mark.parametrize("value", PAIRS, ids=ascii)
def test_a_pair_of_texts_is_plain_where_the_first_is_no_name_of_a_secret(file: File, value: Any) -> None:
    made = known({"lines": 1})
    assert file.put(made.rules, (9, value)) == WRITTEN
    assert file.payload() == dumps((9, Settings().encode(value)), 2)


def test_a_pair_whose_first_text_sounds_like_a_secret_is_looked_at_once(file: File) -> None:
    made = Settings()
    for name in ("key", "Keyboard", "token_count", "clé: passé", "max_tokens"):
        assert file.put(made.rules, (9, [name, "n"])) == NOT_PLAIN
        assert made.encode([name, "n"]) == [name, "n"]
        assert file.put(made.rules, (9, [name, "n"])) == WRITTEN
    # Such a text is no key that may be written as it stands, where it holds a secret itself.
    for text in ("my token is sk-abcdefghij0123456789klmn", "password=hunter22", "value of the key: hunter22hunter22"):
        made.encode([text, "n"])
        if made.encode(text) != text:
            assert file.put(made.rules, (9, {text: 1})) == NOT_PLAIN
    for name in ("--keyboard", "-key"):
        made.encode([name, "n"])
        assert file.put(made.rules, (9, [name, "n"])) == NOT_PLAIN
    assert file.put(made.rules, (9, {"auth_key": "n"})) == NOT_PLAIN


def names_of_secrets() -> list[str]:
    words = {*_secrets.ANYWHERE, *_secrets.LAST, *_secrets.ENDINGS}
    words.update(f"{word}_tokens" for word in _secrets.TOKENS_BEFORE)
    words.update(f"{word}_pass" for word in _secrets.PASS_BEFORE)
    words.update(f"{word}_{key}" for word in _secrets.KEY_BEFORE for key in ("key", "keys"))
    return sorted(words)


@pytest.mark.parametrize("form", ["{}", "x {}", "X-{}", "my_{}_value", "é {}"])
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_no_name_of_a_secret_is_passed_by_before_a_text(file: File, form: str, case: Any) -> None:
    masking = Settings().masking
    found = 0
    for word in names_of_secrets():
        name = form.format(case(word))
        if not masking.secret_after(name, 2):
            continue
        found += 1
        for value in ([name, "hunter22"], (name, "hunter22"), {"name": [[name, "hunter22"]]}):
            made = known({"name": 1})
            for _ in range(2):
                assert file.put(made.rules, (9, value)) == NOT_PLAIN, name
                assert "hunter22" not in repr(made.encode(value))
    assert found > 50


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_no_known_secret_passes(tmp_path: Path, text: str, secret: str) -> None:
    file = File(tmp_path / "1-1.spool")
    assert file.put(Settings().rules, (9, text)) == NOT_PLAIN
    assert file.put(known(text).rules, (9, {"a": [text]})) == NOT_PLAIN
    file.segment.close()


@pytest.mark.parametrize(
    "harm", ["none", "other sources", "half of it", "one byte", "no note", "a torn note", "empty", "a folder"]
)
def test_only_a_whole_one_of_these_sources_is_loaded(tmp_path: Path, harm: str) -> None:
    copy = tmp_path / "toolbreak"
    shutil.copytree(Path(_optional.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file, note = copy / "_compiled.abi3.so", copy / "_compiled.key"
    whole = file.read_bytes()
    if harm == "other sources":
        (copy / "_key.py").write_text('KEY = "0123456789abcdef"\n')
    elif harm == "half of it":
        file.write_bytes(whole[: len(whole) // 2])
    elif harm == "one byte":
        file.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    elif harm == "no note":
        note.unlink()
    elif harm == "a torn note":
        note.write_text(note.read_text()[:10])
    elif harm == "empty":
        file.write_bytes(b"")
    elif harm == "a folder":
        file.unlink()
        file.mkdir()
    command = [sys.executable, "-c", "from toolbreak import _optional; print(_optional.Cursor is None)"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""})
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(harm != "none"), "")


def test_near_the_recursion_limit_nothing_is_raised(file: File) -> None:
    rules = known({"name": "words"}).rules
    done: list[int] = []

    def deeper() -> None:
        try:
            deeper()
        except RecursionError:
            pass
        done.append(file.put(rules, (9, {"name": "words", "text": "some more words"})))

    deeper()
    assert len(done) > 100 and set(done) <= {WRITTEN, NOT_PLAIN}
    assert len(file.frames()) == done.count(WRITTEN)


@pytest.mark.parametrize("most", [256, 1000, 100_000, 1 << 20])
@pytest.mark.parametrize("count", [12, 16, 90, 5000, 50_000, 70_000])
@pytest.mark.parametrize("items", [[1, 2.5], [1, 2], [1.5], [1, 1 << 62], [[1, 2.5] * 7]], ids=str)
def test_what_python_code_would_cut_is_not_written_whole(
    tmp_path: Path, items: list[Any], count: int, most: int
) -> None:
    value = items * count
    rules = known(value, max_value_bytes=most)
    encoded = rules.encode(value)
    whole = dumps((9, encoded), 2)
    file = File(tmp_path / "1-1.spool", 1 << 22)
    if file.put(rules.rules, (9, value)) == WRITTEN:
        assert file.payload() == whole and len(whole) <= most + 1000
    file.segment.close()


def test_what_is_immortal_stays_so(file: File) -> None:
    rules = Settings().rules
    before = [sys.getrefcount(each) for each in (True, False)]
    for _ in range(20_000):
        file.segment.place = 8
        file.put(rules, (9, ["some words", True, False], "more words"))
    assert [sys.getrefcount(each) for each in (True, False)] == before


def test_patterns_of_a_person_are_not_passed_by() -> None:
    from toolbreak._masking import Masking

    assert Settings(masking=Masking(patterns=["ORD-[0-9]+"])).rules is None


@pytest.mark.parametrize("names", [["iban"], ["*"], ["????"]])
def test_a_name_that_a_person_gives_counts_in_a_pair(names: list[str]) -> None:
    before = Settings()
    assert before.encode(["iban", "DE02"]) == ["iban", "DE02"] and before.rules.encode(["iban", "DE02"]) is not None
    after = Settings.from_record({"maskKeys": names})
    assert after.rules is None
    assert "DE02" not in repr(after.encode(["iban", "DE02"]))


def test_what_is_too_deep_wide_or_large_is_left_to_python_code(tmp_path: Path) -> None:
    file = File(tmp_path / "1-1.spool", 1 << 22)
    deep: Any = []
    for _ in range(40):
        deep = [deep]
    cycle: list[Any] = []
    cycle.append(cycle)
    wide = [[number] for number in range(50_000)]
    large = ["some words " * 5000] * 30
    for value in (deep, cycle, wide, large):
        assert file.put(known("words").rules, (9, value)) == NOT_PLAIN
    assert file.put(known({"a": 1}, max_value_bytes=256).rules, (9, [7] * 30), None, 1200) == NOT_PLAIN
    assert file.frames() == []
    file.segment.close()


def test_a_file_is_filled_up_to_its_end_and_no_further(tmp_path: Path) -> None:
    file = File(tmp_path / "1-1.spool", 4096)
    rules = Settings().rules
    count = 0
    while not (done := file.put(rules, (9, count))):
        count += 1
    assert done == NO_ROOM and len(file.frames()) == count
    assert file.segment.end - 18 < file.segment.place <= file.segment.end
    assert not any(file.path.read_bytes()[file.segment.place :])
    place = file.segment.place
    file.segment.close()
    assert file.put(rules, (9, 1)) == NO_ROOM and file.segment.place == place


def test_two_frames_are_written_both_or_not_at_all(file: File) -> None:
    rules = known({"a": 1}).rules
    assert file.put(rules, (START, {"a": 1}), (STATE, {"a": 2})) == WRITTEN
    assert file.put(rules, (START, {"a": 1}), (STATE, object())) == NOT_PLAIN
    assert file.put(rules, (START, object()), (STATE, {"a": 2})) == NOT_PLAIN
    assert not any(file.path.read_bytes()[file.segment.place :])
    assert file.frames() == [(START, {"a": 1}), (STATE, {"a": 2})]


def test_the_call_hears_of_it_and_nobody_appends_in_between(file: File) -> None:
    rules = Settings().rules
    call = SimpleNamespace(recorded=0)
    assert file.segment.put(rules, call, 2, (END, 1)) == WRITTEN and call.recorded == 2
    assert file.segment.put(rules, call, 3, (END, object())) == NOT_PLAIN and call.recorded == 2
    file.segment.busy = True
    assert file.put(rules, (END, 2)) == NOT_PLAIN
    file.segment.busy = False

    class Nested:
        def __setattr__(self, name: str, value: Any) -> None:
            # A finaliser that runs here records something, too.
            assert file.put(rules, (END, 4)) == NOT_PLAIN

    assert file.segment.put(rules, Nested(), 1, (END, 3)) == WRITTEN
    assert file.frames() == [(END, 1), (END, 3)]


def test_wrong_arguments_are_an_error_not_a_crash(file: File) -> None:
    rules = Settings().rules
    for wrong in ((), (rules,), (rules, None, 0, [9]), (1, None, 0, (9,)), (rules, None, 0, (9,), [9])):
        with pytest.raises(TypeError):
            file.segment.put(*wrong)
    with pytest.raises(TypeError):
        _optional.Rules({}, set(), {}, 1, 2, 3, 4, 5, 6)
    with pytest.raises(TypeError):
        _optional.Snapshot([], [5])
    with pytest.raises(ValueError):
        _optional.Snapshot([5], [])
    assert file.segment.put(rules, None, 0, (9,)) == WRITTEN


def test_a_snapshot_lets_go_of_what_it_kept() -> None:
    import weakref

    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    value = {"things": [thing, 1]}
    snapshot = _optional.Snapshot([value, value["things"]], [(shape_of(Thing).read_dict, [thing])])
    assert snapshot.same() and len(snapshot) == 6
    value["things"].append(2)
    assert not snapshot.same()
    value.clear()
    del thing
    assert gone() is not None
    del snapshot
    assert gone() is None


def plain_containers(value: Any) -> list[Any]:
    """All dicts and lists in a value, however deep."""
    inner = list(value.values()) if type(value) is dict else list(value)
    found = [] if type(value) is tuple else [value]
    for item in inner:
        if type(item) in (dict, list, tuple):
            found += plain_containers(item)
    return found


def test_whatever_changes_in_a_plain_value_is_seen() -> None:
    def made() -> Any:
        rows = [[number, {"text": "words", "more": (number, [1.5, None], {"a": b"b"})}] for number in range(20)]
        return {"rows": rows, "numbers": list(range(300)), "empty": {}, "none": [], "pair": ({}, []), 5: {"six": 7}}

    count = len(plain_containers(made()))
    assert count > 80
    for place in range(count):
        value = made()
        snapshot = _optional.Snapshot.of(value, 20, 5000)
        assert snapshot.same() and snapshot.same()
        container = plain_containers(value)[place]
        if type(container) is dict:
            container["new"] = 1
        else:
            container.append(1)
        assert not snapshot.same(), place
        other = made()
        snapshot = _optional.Snapshot.of(other, 20, 5000)
        container = plain_containers(other)[place]
        for key in container if type(container) is dict else range(len(container)):
            container[key] = object()
            assert not snapshot.same(), (place, key)
            break


def test_every_place_of_a_list_is_looked_at() -> None:
    for size in range(40):
        items = [str(number) for number in range(size)]
        value = [["before"], items, ["behind"] * 5]
        snapshot = _optional.Snapshot.of(value, 20, 5000)
        for place in range(size):
            kept, items[place] = items[place], "other"
            assert not snapshot.same(), (size, place)
            items[place] = kept
            assert snapshot.same()
        items.append("one more")
        assert not snapshot.same()
        del items[-2:]
        assert size == 0 or not snapshot.same()


def test_a_value_that_is_not_plain_or_too_large_is_left_to_python_code() -> None:
    class Words(list):  # type: ignore[type-arg]
        pass

    loop: list[Any] = []
    loop.append(loop)
    deep: Any = []
    for _ in range(20):
        deep = [deep]
    for value in ({"a": {1, 2}}, [object()], ({"a": [Words()]},), Words(), loop, deep, [[] for _ in range(100)]):
        assert _optional.Snapshot.of(value, 20, 100) is None
    assert _optional.Snapshot.of(deep[0], 20, 100) is not None
    assert _optional.Snapshot.of([[] for _ in range(99)], 20, 100) is not None
    for wrong in ((), ([],), ([], "a", 1)):
        with pytest.raises(TypeError):
            _optional.Snapshot.of(*wrong)


def test_checksums_are_those_of_zlib(tmp_path: Path) -> None:
    file = File(tmp_path / "sizes.spool")
    choose = random.Random(5)
    texts = ["".join(choose.choices("abcdefghij klmnop", k=size)) for size in (*range(200), 1000, 4095, 4096, 4097)]
    rules = known(texts).rules
    for text in texts:
        assert file.put(rules, (9, text)) == WRITTEN
    assert [frame[1] for frame in file.frames()] == texts  # Read with `zlib.crc32`.
    file.segment.close()


def test_encoding_alone_keeps_to_the_largest_frame() -> None:
    for largest in (1000, 20_000, 200_000):
        rules = Settings(max_value_bytes=largest).rules
        value = ["words of a text"] * (largest // 21)
        assert rules.encode(value) == dumps(value, 2)
        assert rules.encode(value * 9) is None


@pytest.mark.parametrize("references", ["", "yes"])
def test_without_it_the_same_frames_are_written(tmp_path: Path, references: str) -> None:
    source = """
import itertools, sys
sys.path.insert(0, sys.argv[1])
from toolbreak import _calls, _optional, _spool, _writer
print(_optional.Cursor is not None)
clock = itertools.count(10**12, 1000)
_spool.Real.monotonic_ns = lambda: next(clock)
_spool.Real.time_ns = lambda: 5
from toolbreak._values import Settings
writer = _writer.Writer(sys.argv[2], "1", Settings(references=bool(sys.argv[3])), {})
kinds = {kind: _calls.function(kind, kind) for kind in ("workflow", "node", "tool")}
_calls.writer = writer
state = {"count": 1, "data": {f"key{i}": ["words " * 30, i] for i in range(30)}, "text": "short"}
for round in range(8):
    call = _calls.begin(kinds["node"], {}, state=state, attributes={"langgraph.step": round})
    writer.route(call, ("next",))
    call.state, call.result = {**state, "count": round}, {"count": round}
    if round == 5:
        state["data"]["key3"].append("password = hunter22")
    _calls.end(call, 0)
    call = _calls.begin(kinds["tool"], {"order": round, "token": "s3cret-words", "text": "a: b"})
    call.result = {"rows": [1, 2.5, None, ("a", "b", "c")], "ok": True}
    _calls.end(call, 0)
writer.close()
"""
    found = []
    for switch in ("", "0"):
        folder = tmp_path / f"run{switch}"
        folder.mkdir()
        command = [sys.executable, "-c", source, str(Path(_segments.__file__).parents[1]), str(folder), references]
        env = {**os.environ, "TOOLBREAK_COMPILED": switch}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(switch == "")
        frames = [frame for path in sorted(folder.glob("*.spool")) for frame in read_segment(path)]
        assert "hunter22" not in repr(frames) and "s3cret" not in repr(frames)
        found.append([frame for frame in frames if frame[0] not in (0, 2)])
    times = {START: 5, END: 2, STATE: 2, 6: 1}
    for frames in found:
        frames[:] = [
            tuple(0 if at == times.get(frame[0]) else item for at, item in enumerate(frame)) for frame in frames
        ]
    assert len(found[0]) == 58 and found[0] == found[1]


@dataclass
class Row:
    a: int


@pytest.mark.parametrize("way", ["compiled", "python"])
def test_what_came_in_while_it_was_walked_is_not_remembered(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "python":
        monkeypatch.setattr(_optional, "Snapshot", None)
    value: dict[str, Any] = {"walked later": {"b": 2}, "walked first": [1, [2]]}
    if way == "compiled":
        value = {"an object": Row(1), **value}  # Of a plain value compiled code takes all at once.
        Settings().encode(value)
    assert _memo.Memo().look(value) is not None
    real = _memo.Part._take_dict

    def take(self: Any, item: Any) -> Any:
        if item is value["walked later"]:
            value["walked first"].append({"a": 1})  # As another thread does it.
        return real(self, item)

    monkeypatch.setattr(_memo.Part, "_take_dict", take)
    assert _memo.Memo().look(value) is None


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_optional, "Snapshot", None)


def test_python_code_remembers_as_well(in_python: None) -> None:
    memo = _memo.Memo()
    value = {"list": list(range(50)), "more": [{"a": 1}]}
    part = memo.look(value)
    assert part is not None and part.snapshot is None and memo.is_same(part)
    value["more"][0]["a"] = 2
    assert not memo.is_same(part)
