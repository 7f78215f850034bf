"""Every kind of line can be stopped at."""

from __future__ import annotations

from typing import Any

import pytest
from fake_adapter import dot

pytestmark = pytest.mark.essential


ODD = """
    import asyncio, threading


    def decorate(f):
        def inner(*args):
            return f(*args)
        return inner


    @decorate
    def wrapped(n):
        return n + 1


    class Box:
        size = 3

        def grow(self, by):
            self.size += by
            return [
                self.size
                for _ in range(2)
            ]


    def numbers(n):
        for i in range(n):
            yield i


    async def later(n):
        await asyncio.sleep(0)
        return n * 2


    def keys(items):
        return sorted(
            items,
            key=lambda item:
                -item,
        )


    async def both():
        return await asyncio.gather(later(1), later(2))


    def count():
        n = 3
        while n > 1:
            n -= 1
        try:
            n.missing
        except AttributeError as error:
            n = 0
        with open("/dev/null") as f:
            text = f"{n}"
        return text


    print(wrapped(1), Box().grow(2), list(numbers(2)), asyncio.run(both()), keys([1, 2]), count())
    thread = threading.Thread(target=count, name="helper")
    thread.start()
    thread.join()
"""


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("return f(*args)", [("decorate.inner", "return f")]),
        ("return n + 1", [("wrapped", "return n + 1")]),
        ("size = 3", [("Box", "size = 3")]),
        ("self.size += by", [("Box.grow", "self.size += by")]),
        ("yield i", [("numbers", "yield i"), ("numbers", "yield i")]),
        ("for i in range", [("numbers", "for i in range")] * 3),
        ("return n * 2", [("later", "return n * 2")] * 2),
        ("-item,", [("keys.<lambda>", "-item,")] * 2),
        ("while n > 1", [("count", "while n > 1")] * 6),
        ("except AttributeError", [("count", "except AttributeError")] * 2),
        ("n = 0", [("count", "n = 0")] * 2),
        ("text = f", [("count", "text = f")] * 2),
        ("try:", [("count", "try:")] * 2),
        ("print(wrapped", [("<module>", "print(wrapped")]),
        ("thread.start", [("<module>", "thread.start")]),
    ],
)
def test_every_kind_of_place(scene: Any, text: str, stops: list[tuple[str, str]]) -> None:
    path = scene.write("main.py", ODD)
    adapter = scene.adapter(breakpoints=[dot(1, path, text)])
    app = scene.run(adapter, "main.py")
    found = []
    for _ in stops:
        process, hold = adapter.held()
        name = hold["frames"][0]["name"]
        line = path.read_text().splitlines()[hold["frames"][0]["line"] - 1]
        expected = stops[len(found)]
        assert expected[1] in line, line
        assert name == expected[0] or name == expected[0].rpartition(".")[2], name
        assert hold["breakpoints"] == [1]
        found.append(hold["taskName"])
        process.release(hold)
    assert app.finish() == (0, "2 [5, 5] [0, 1] [2, 4] [2, 1] 0\n", "")
    assert set(found) <= {"main.py", "helper"} and len(found) == len(stops)
    if stops[0][0] == "count":
        assert "helper" in found
