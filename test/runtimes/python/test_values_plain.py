"""Plain values come out as they went in, or carry a mark."""

from __future__ import annotations

import marshal
import threading
from time import thread_time
from types import SimpleNamespace
from typing import Any

import pytest
from spool_reader import has_mark, is_plain
from toolbreak import _walk
from toolbreak._masking import BEYOND
from toolbreak._values import Settings
from toolbreak._values import encode as encode_with

pytestmark = pytest.mark.essential

settings = Settings()


def encode(value: Any) -> Any:
    encoded = settings.encode(value)
    assert is_plain(encoded), encoded
    assert_same(marshal.loads(marshal.dumps(encoded, 2)), encoded)
    return encoded


def assert_same(one: Any, other: Any) -> None:
    assert repr(one) == repr(other) or one == other


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        -(2**200),
        1.5,
        1 + 2j,
        "text",
        "surrogate \ud800",
        b"bytes",
        [1, [2, []], ()],
        {"a": {"b": [None, {1, 2}]}, 3: 4, None: 5, 1.5: 6, True: 7, b"k": 8, (1, "x"): 9},
        {frozenset((1, 2)), "x"},
        (1, ("a",)),
    ],
)
def test_plain_values_stand_for_themselves(value: Any) -> None:
    encoded = encode(value)
    assert encoded == value
    assert type(encoded) is type(value)


def test_what_is_encoded_is_a_copy() -> None:
    inner = [1]
    value = {"a": inner, "b": (inner,)}
    encoded = encode(value)
    inner.append(2)
    assert encoded == {"a": [1], "b": ([1],)}


def test_nothing_of_the_app_looks_like_a_tag() -> None:
    assert encode(...) == (..., "ellipsis")
    assert encode((..., "object", "x", {}, None)) == ((..., "ellipsis"), "object", "x", {}, None)
    assert encode([...]) == [(..., "ellipsis")]


def test_bytearray_is_tagged_and_never_plain_bytes() -> None:
    assert encode(bytearray(b"ab")) == (..., "bytearray", b"ab")
    assert encode({"a": [bytearray(b"x")]}) == {"a": [(..., "bytearray", b"x")]}


def test_keys_that_are_objects_become_pairs() -> None:
    class Key:
        def __init__(self) -> None:
            self.name = "k"

    tag = encode({Key(): 1, "plain": 2})
    assert tag[:3] == (..., "subclass", "dict")
    assert tag[3][0][0][1] == "object" and tag[3][1] == ["plain", 2]


def test_what_comes_before_a_key_that_is_no_text_is_encoded_once() -> None:
    secret = (..., "masked", "password holds a secret")
    assert encode({"a": bytearray(b"x"), "b": [...], "password": "p", None: ...}) == {
        "a": (..., "bytearray", b"x"),
        "b": [(..., "ellipsis")],
        "password": secret,
        None: (..., "ellipsis"),
    }


def test_sets_of_objects_become_lists() -> None:
    class Member:
        def __init__(self) -> None:
            self.name = "m"

    tag = encode({Member(), 1})
    assert tag[:3] == (..., "subclass", "set") and len(tag[3]) == 2


def test_cycles() -> None:
    value: list[Any] = [1]
    value.append(value)
    assert "cycle" in repr(encode(value))
    loop: dict[str, Any] = {}
    loop["self"] = {"again": loop}
    encoded = encode(loop)
    assert encoded == {"self": {"again": (..., "cycle", 2)}}


def test_shared_references_are_no_cycles() -> None:
    shared = {"a": 1}
    assert encode([shared, shared]) == [{"a": 1}, {"a": 1}]


def test_deep_values_are_cut_with_a_mark() -> None:
    value: Any = "end"
    for _ in range(5000):
        value = [value]
    encoded = Settings(max_depth=10).encode(value)
    depth = 0
    while type(encoded) is list:
        encoded = encoded[0]
        depth += 1
    assert depth == 10
    assert encoded[:4] == (..., "cut", "list", []) and encoded[4] == 1 and "10 levels" in encoded[5]
    assert has_mark(encode(value))


def test_wide_values_are_cut_with_a_mark() -> None:
    encoded = encode_with(list(range(100_000)), Settings(max_value_bytes=1000))
    assert encoded[:3] == (..., "cut", "list") and encoded[4] == 100_000
    assert encoded[3] == list(range(len(encoded[3]))) and 10 < len(encoded[3]) < 300
    tag = encode_with({str(index): index for index in range(10_000)}, Settings(max_value_bytes=1000))
    assert tag[:3] == (..., "cut", "dict") and tag[4] == 10_000


def test_a_million_is_cut_by_its_size_and_not_by_the_clock() -> None:
    hasty = Settings(seconds=0.0)
    for value in (list(range(1_000_000)), [0.5] * 1_000_000, [f"order {n}" for n in range(1_000_000)]):
        tag = hasty.bounded(value)
        # Without time, what is looked at together first is seen.
        assert tag[:3] == (..., "cut", "list") and tag[4] == 1_000_000 and len(tag[3]) == 1024
    for value in ([2**40] * 300_000, [0.5] * 200_000, ["é" * 20] * 100_000, {f"k{n}": n for n in range(200_000)}):
        tag = Settings(seconds=60.0).bounded(value)
        assert tag[4] == len(value) and 1_000_000 < len(marshal.dumps(tag, 2)) < 1_050_000
    numbers = Settings().bounded(list(range(1_000_000)))
    assert numbers[3] == list(range(209_715)) and numbers[5] == "larger than the limit of 1048576 bytes"


def test_a_thread_that_waits_for_others_loses_none_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_walk, "_PATIENCE", 1000)
    value = [[number] for number in range(60_000)]
    begin = thread_time()
    assert Settings(seconds=60.0).bounded(value) == value
    took = thread_time() - begin
    ended = threading.Event()

    def works() -> None:
        while not ended.is_set():
            pass

    others = [threading.Thread(target=works) for _ in range(8)]
    for other in others:
        other.start()
    try:
        assert Settings(seconds=4 * took).bounded(value) == value
    finally:
        ended.set()
        for other in others:
            other.join()


def test_one_that_waits_for_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_walk, "_PATIENCE", 0)
    tag = Settings(seconds=60.0).bounded([[number] for number in range(1000)])
    assert tag[:3] == (..., "cut", "list") and tag[5] == "took longer than 60.0 s to record" and 0 < len(tag[3]) < 100


def test_a_long_key_of_a_long_dict_is_cut() -> None:
    value = {"first " + "x" * 500_000: 0, **{f"k{n}": n for n in range(2000)}}
    assert len(marshal.dumps(Settings(max_value_bytes=4096).bounded(value), 2)) < 6000


@pytest.mark.parametrize("count", [1000, 26_000])
def test_keys_that_are_data_are_looked_at_once(count: int) -> None:
    settings = Settings()
    value = {f"chunk-{n}": {"t": "hello"} for n in range(count)}
    assert settings.encode(value) == value
    assert settings.harmless.issuperset(value) is (count <= 25_000)
    assert settings.encode({**value, "api_key": "hunter2"})["api_key"][:2] == (..., "masked")
    assert "sk-abcdefghijklmnopqrstuvwx" not in repr(settings.encode({**value, "sk-abcdefghijklmnopqrstuvwx": 1}))


def test_long_texts_and_bytes_are_cut_with_their_head() -> None:
    small = Settings(max_value_bytes=5000)
    tag = small.encode("x" * 100_000)
    assert tag[:3] == (..., "cut", "str") and tag[4] == 100_000 and tag[3] == "x" * len(tag[3]) and len(tag[3]) > 1000
    tag = small.encode({"a": b"y" * 100_000})["a"]
    assert tag[:3] == (..., "cut", "bytes") and tag[4] == 100_000
    tag = small.encode("ü" * 100_000)
    assert len(marshal.dumps(tag, 2)) < 6000


@pytest.mark.parametrize("letters", ["ü", "€", "𝒳", "aü", "a€b𝒳", "\ud800x"])
def test_a_text_counts_with_the_bytes_that_it_takes(letters: str) -> None:
    small = Settings(max_value_bytes=5000)
    text = letters * 5000
    fits = len(text)
    while len(text[:fits].encode("utf-8", "surrogatepass")) > 4900:
        fits -= 1
    assert small.encode(text[:fits]) == text[:fits]
    tag = small.encode(text)
    assert tag[:3] == (..., "cut", "str") and tag[4] == len(text) and tag[3] == text[: len(tag[3])]
    kept = len(tag[3].encode("utf-8", "surrogatepass"))
    # An eighth is left for what stands beside it.
    assert 4300 < kept <= 4375
    around = small.encode({"text": text, "order": 7, "beside": ["a" * 100, {"deep": True}]})
    assert around == {"text": around["text"], "order": 7, "beside": ["a" * 100, {"deep": True}]}
    assert around["text"][:3] == (..., "cut", "str")


def test_of_bytes_that_do_not_fit_the_beginning_is_kept_and_all_beside_them() -> None:
    reason = "larger than the limit of 1048576 bytes"
    rows = [f"row {index}" for index in range(20_000)]
    picture = bytes(range(256)) * 40_000
    head = picture[:16384]
    value = {"first": bytearray(picture), "picture": picture, "rows": rows, "whole": bytearray(picture[:200_000])}
    assert Settings().encode(value) == {
        "first": (..., "cut", "bytearray", (..., "bytearray", head), len(picture), reason),
        "picture": (..., "cut", "bytes", head, len(picture), reason),
        "rows": rows,
        "whole": (..., "bytearray", picture[:200_000]),
    }
    secret = b"sk-proj-abcdef1234567890"
    assert Settings().encode(picture[:16380] + secret + picture)[3] == picture[:16380] + b"***\0"
    # Bytes beside a secret stay what they are.
    assert Settings().encode(picture[:512] + secret + picture[:512]) == picture[:512] + b"***" + picture[:512]


class Order:
    def __init__(self) -> None:
        self.id = 7


def test_what_is_small_is_kept_behind_what_is_large() -> None:
    small = Settings(max_value_bytes=1000)
    numbers = list(range(100_000))
    encoded = small.encode({"items": numbers, "limit": 7, "api_key": "hunter2", "name": "x", "none": None})
    assert encoded["items"][:3] == (..., "cut", "list")
    assert {**encoded, "items": 0} == {
        "items": 0,
        "limit": 7,
        "api_key": (..., "masked", "api_key holds a secret"),
        "name": "x",
        "none": None,
    }
    # Of what is not small the name, the type and the size are told.
    reason = "larger than the limit of 1000 bytes"
    behind = {"rows": list(range(9)), "none": {}, "text": "t" * 300, "order": Order(), "limit": 7}
    encoded = small.encode({"items": numbers, **behind})
    assert {**encoded, "items": 0} == {
        "items": 0,
        "rows": (..., "cut", "list", [], 9, reason),
        "none": {},
        "text": (..., "cut", "str", "", 300, reason),
        "order": (..., "cut", f"{Order.__module__}.Order", None, 0, reason),
        "limit": 7,
    }
    # A container of a few small values is small.
    few = {"options": {"limit": 7, "mode": "fast"}, "pair": (1, "two"), "tags": ["a", None], "nested": [[1]]}
    encoded = small.encode({"items": numbers, **few})
    assert {**encoded, "items": 0} == {"items": 0, **few, "nested": (..., "cut", "list", [], 1, reason)}
    secret = small.encode(
        {"items": numbers, "login": {"user": "ann", "password": "hunter2"}, "last": ["token=sk_live_1"]}
    )
    assert secret["login"] == {"user": "ann", "password": (..., "masked", "password holds a secret")}
    assert secret["last"] == ["token=***"]
    # What is masked is masked there, too, whatever says that it is a secret.
    rows: list[dict[str, Any]] = [
        {"auth": ("ann", "hunter2")},
        {"name": "DB_PASSWORD", "value": ["hunter2"]},
        {"name": "DB_PASSWORD", "value": {"v": "hunter2"}},
        {"selector": "#password", "text": ["hunter2"]},
        {"passwords": ["hunter2"]},
        {"header": ("Authorization", "hunter2")},
        {"command": ["--password", "hunter2"]},
    ]
    for row in rows:
        assert "hunter2" not in repr(small.encode({"items": numbers, **row})), row
        fields = small.encode(SimpleNamespace(items=numbers, **row))
        assert "hunter2" not in repr(fields) and set(row) <= set(fields[3]), row
    # None has room once the time is over, or below the deepest level.
    late = Settings(max_value_bytes=1000, seconds=0.0).bounded({"items": [[] for _ in range(200)], "options": {"n": 7}})
    assert late["options"][1:5] == ("cut", "dict", {}, 1)
    low = Settings(max_value_bytes=1000, max_depth=1).encode({"items": numbers, "options": {"n": 7}})
    assert low["options"][1:5] == ("cut", "dict", {}, 1)
    # All of them together take no more than a few kilobytes, however large the characters.
    told = small.encode({"items": numbers, **{f"key {index}": ["\U0001f600" * 200] * 8 for index in range(50)}})
    assert len(marshal.dumps(told, 2)) < 30_000
    # What has no text for its name cannot be told without looking at it.
    tag = small.encode({"items": numbers, (1, 2): "pair", "limit": 7})
    assert tag[:3] == (..., "cut", "dict") and list(tag[3]) == ["items", "limit"] and tag[4] == 3
    # A head that ends in the middle of a secret would show half of it: nothing of a long text is told.
    key = "-----BEGIN PRIVATE KEY-----\n" + "a" * (BEYOND // 2 + 50) + "\n-----END PRIVATE KEY-----"
    secret = "postgres://u:supersecretpw"
    start = f"{key}\n{key}\n"
    text = start.ljust(64 + BEYOND - len(secret)) + secret + "@host/db"
    told = repr(small.encode({"items": numbers, "text": text, "bytes": text.encode(), "passwords": ["supersecretpw"]}))
    assert "supersecret" not in told and "(Ellipsis, 'masked', 'passwords holds a secret')" in told
    # Wherever the edge is: each of these has one that would show half of the secret.
    for end in range(BEYOND + 800, BEYOND + 1100, 2):
        text = start.ljust(end - len(secret)) + secret + "@host/db" + "x" * 9000
        for first in text, text.encode(), bytearray(text.encode()):
            assert "supersecret" not in repr(Settings(max_value_bytes=1024).encode(first)), end
    # However long the secret is, up to half of what is looked at behind the edge: its beginning on this side, its end far behind it.
    for length in 100, 6000, BEYOND // 2 - 100:
        secrets = f" passwords=['{'supersecret, ' * (length // 13)}'] "
        for shown in 30, 100, 200:
            for text in (
                secrets.rjust(200 - shown + len(secrets)),
                f"{start} {secrets}".rjust(BEYOND + 200 - shown + len(secrets)),
            ):
                assert "supersecret" not in repr(Settings(max_value_bytes=256).encode(text + "x" * 40_000)), (
                    length,
                    shown,
                )
    # Nor is one looked through once the time is over.
    late = Settings(seconds=0.0)
    walked = late.bounded({"items": [[] for _ in range(200)], "text": "secret:" * 100_000})
    assert walked["items"][5] == "took longer than 0.0 s to record" and walked["text"][3:5] == ("", 700_000)
    # Small ones are told however many others there are.
    many = {"state": {"items": numbers, **{f"key {index}": [1] for index in range(63)}}, "rows": [1], "limit": 7}
    tag = small.encode({**many, "more": [1]})
    assert tag[:3] == (..., "cut", "dict") and list(tag[3]) == ["state", "rows", "limit"] and len(tag[3]["state"]) == 64
    # However many stand behind it, at all levels together.
    nested: Any = numbers
    for _ in range(20):
        nested = {"next": nested, **{f"key {index}": [index] for index in range(50)}}
    assert len(marshal.dumps(small.encode(nested), 2)) < 16_000
    wide = small.encode({"items": numbers, **{str(index): index for index in range(100)}})
    assert list(wide[3]) == ["items"] and wide[4] == 101


def test_the_whole_stays_near_its_budget() -> None:
    small = Settings(max_value_bytes=10_000)
    value = {"rows": [{"name": f"row {index}", "tags": ["a", "b"], "text": "t" * 100} for index in range(1000)]}
    encoded = encode_with(value, small)
    assert has_mark(encoded)
    assert len(marshal.dumps(encoded, 2)) < 40_000


def test_sharing_does_not_explode() -> None:
    value: Any = ["leaf"]
    for _ in range(60):
        value = [value, value]
    encoded = Settings(max_value_bytes=100_000).encode(value)
    assert has_mark(encoded) and is_plain(encoded)


def test_a_large_number_is_named() -> None:
    tag = encode_with(1 << 100_000, Settings(max_value_bytes=1000))
    assert tag[1] == "opaque" and "100001 bits" in tag[3]
    assert encode(1 << 10_000) == 1 << 10_000


def test_values_that_change_meanwhile() -> None:
    value: dict[str, Any] = {f"k{index}": [index] for index in range(300)}
    stop = threading.Event()

    def change() -> None:
        count = 0
        while not stop.is_set():
            count += 1
            value[f"n{count % 50}"] = [count]
            value.pop(f"n{(count + 25) % 50}", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            encoded = encode(value)
            assert type(encoded) is dict and len(encoded) >= 300
    finally:
        stop.set()
        thread.join()


def test_close_to_the_recursion_limit() -> None:
    value: Any = {"a": [{"b": [1, {"c": object()}]}]}

    def down() -> Any:
        try:
            return down()
        except RecursionError:
            return settings.encode(value)

    encoded = down()
    assert is_plain(encoded)
