"""A debugged program does what it does without a debugger."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from fake_adapter import RUNTIME, dot

SAME = '''
import asyncio, functools, inspect, sys, traceback, warnings

VALUE = 1


def plain(a, b=2, *rest, key=3, **more):
    """Its text."""
    return [a, b, rest, key, more, sorted(locals())]


def failing(x):
    def inner():
        raise ValueError(
            x
        )
    try:
        return inner()
    finally:
        x = None


def numbers(n):
    try:
        for i in range(n):
            got = yield i
            if got:
                print("got", got)
    finally:
        print("closed")
    return "end"


def relay():
    return (yield from numbers(2))


async def waiting(x):
    await asyncio.sleep(0)
    return x


async def stream(n):
    for i in range(n):
        yield await waiting(i)


class Base:
    def method(self, x):
        return x

    @classmethod
    def of(cls, x):
        return cls, x

    @staticmethod
    def still(x):
        return x

    @property
    def prop(self):
        return 5


class Derived(Base):
    def method(self, x):
        return super().method(x) + 1

    def __private(self, __x=3):
        return __x

    def call(self):
        return self.__private()


def counter():
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    return up


def glob():
    global VALUE
    VALUE += 1
    return VALUE


def overridden():
    for i in range(3):
        try:
            return i
        finally:
            break
    return "after"


@functools.lru_cache
def cached(x):
    return x


def deep(n):
    return deep(n - 1) + 1 if n else 0


def warn():
    warnings.warn("careful", stacklevel=2)


def room():
    frame, used = sys._getframe(), 0
    while frame:
        frame, used = frame.f_back, used + 1
    return sys.getrecursionlimit() - used


def main():
    print(plain(1), plain(1, 2, 3, key=4, z=5), plain.__doc__, inspect.signature(plain))
    try:
        failing(3)
    except ValueError:
        traceback.print_exc(file=sys.stdout)
    print(list(numbers(2)), list(relay()))
    it = numbers(3)
    next(it)
    it.send("hello")
    it.close()
    async def drive():
        print([x async for x in stream(3)], await asyncio.gather(*(waiting(i) for i in range(4))))
    asyncio.run(drive())
    d = Derived()
    print(d.method(3), Derived.of(1), d.still(2), d.prop, d.call())
    up = counter()
    print(up(), up(), glob(), overridden(), cached(3), cached(3))
    print(inspect.getsource(plain), inspect.isgeneratorfunction(numbers), inspect.iscoroutinefunction(waiting), inspect.isasyncgenfunction(stream))
    print([f.name for f in traceback.extract_stack()])
    print(DEEP)
    warn()
    failing("uncaught")


if __name__ == "__main__":
    main()
'''


def outcome(result: tuple[int, str, str]) -> tuple[int, str, str]:
    return result


def same(scene: Any, text: str, names: list[str], *flags: str, enabled: bool = True, record: bool = False) -> None:
    path = scene.write("main.py", text)
    dots = [dot(i, path, f"def {name}(", enabled=enabled, condition="False") for i, name in enumerate(names, 1)]
    settings = {
        "enabled": record,
        "functions": ["@usercode"],
        "maxValueBytes": 1 << 20,
        "maxDepth": 100,
        "maskKeys": [],
        "maskPatterns": [],
    }
    adapter = scene.adapter(breakpoints=dots, record=settings)
    plain = scene.run(None, *flags, "main.py").finish()
    debugged = scene.run(adapter, *flags, "main.py").finish()
    assert debugged == plain


NAMES = "plain failing numbers relay waiting stream method of still prop counter up glob overridden cached warn main".split()


@pytest.mark.essential
def test_with_dots_that_match_nothing(scene: Any) -> None:
    same(scene, SAME.replace("DEEP", "0"), NAMES)


def test_with_disabled_dots_to_the_recursion_limit(scene: Any) -> None:
    same(scene, SAME.replace("DEEP", "deep(room() - 20)"), [*NAMES, "deep"], enabled=False)


def test_recorded_under_w_error(scene: Any) -> None:
    same(scene, SAME.replace("DEEP", "0"), [], "-W", "error", record=True)


@pytest.mark.essential
def test_an_import_error_reads_the_same(scene: Any) -> None:
    scene.write("broken.py", "def f():\n    return 1\n\nf()\nimport missing_module\n")
    same(scene, "import broken\n", [], record=True)
    scene.write("broken.py", "def f():\n    raise OSError('no')\n\nf()\n")
    same(scene, "import broken\n", [], record=True)


@pytest.mark.essential
def test_without_an_adapter_the_app_runs(scene: Any) -> None:
    scene.write("main.py", "print('ran')\n")
    adapter = scene.adapter()
    adapter.close()
    code, out, err = scene.run(adapter, "main.py").finish()
    assert (code, out) == (0, "ran\n") and "runs without a debugger" in err and len(err.splitlines()) == 1


@pytest.mark.essential
def test_the_apps_own_sitecustomize_runs(scene: Any) -> None:
    scene.write("site/sitecustomize.py", "import builtins\nbuiltins.CHAINED = 'yes'\n")
    scene.write("main.py", "import sys\nprint(CHAINED, [p for p in sys.path if p.endswith('boot')])\n")
    adapter = scene.adapter()
    from fake_adapter import BOOT

    app = scene.run(adapter, "main.py", env={"PYTHONPATH": f"{BOOT}:{scene.folder / 'site'}"})
    assert app.finish() == (0, "yes []\n", "")


class Door:
    """What a listening app printed, and its standard input."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.address = app.popen.stdout.readline().strip()
        self.token = app.popen.stderr.readline().split()[-1]

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        host, _, port = self.address.rpartition(":")
        with socket.create_connection((host, int(port)), 10) as connection:
            connection.sendall(json.dumps(message).encode() + b"\n")
            return json.loads(connection.makefile().readline())

    def say(self, what: object) -> None:
        self.app.popen.stdin.write(f"{what}\n")
        self.app.popen.stdin.flush()


def test_listen_attach_detach_and_attach_again(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import sys
        import toolbreak

        @toolbreak.tool
        def tool(n):
            return n

        def plain(n):
            return n

        print(toolbreak.listen(), flush=True)
        for line in sys.stdin:
            print(tool(int(line)) + plain(1), flush=True)
        """,
    )
    app = scene.run(None, "main.py", env={"PYTHONPATH": str(RUNTIME)})
    door = Door(app)
    assert not door.ask({"token": "wrong", "connect": {}})["ok"]
    for turn in range(2):
        adapter = scene.adapter(breakpoints=[dot(1, path, "def plain"), dot(2, path, "def tool")])
        assert door.ask({"token": door.token, "connect": adapter.connect}) == {"ok": True}
        door.say(turn)
        process, hold = adapter.held()
        assert hold["frames"][0]["kind"] == "tool" and hold["description"] == "Paused before tool"
        process.release(hold)
        process, hold = adapter.held()
        process.request("detach")
        assert app.popen.stdout.readline() == f"{turn + 1}\n"
        adapter.wait(lambda: process.closed, "the end of the connection")
        door.say(10)
        assert app.popen.stdout.readline() == "11\n"
    app.popen.stdin.close()
    app.popen.stdin = None
    assert app.finish()[0] == 0


def test_a_listening_door_survives_strangers_forks_and_never_removes_a_file(scene: Any) -> None:
    notes = scene.write("notes.txt", "mine\n")
    scene.write(
        "main.py",
        """
        import os
        import sys
        import threading
        import toolbreak

        print(toolbreak.listen(), flush=True)
        sys.stdin.readline()
        def fork():
            for _ in range(3):
                pid = os.fork()
                if not pid:
                    os._exit(0)
                os.waitpid(pid, 0)
        threads = [threading.Thread(target=fork) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print([thread.name for thread in threading.enumerate()], flush=True)
        sys.stdin.readline()
        import toolbreak._listening
        toolbreak._listening._door = None
        try:
            toolbreak.listen("notes.txt")
        except OSError as error:
            print("refused", flush=True)
        """,
    )
    app = scene.run(None, "-W", "ignore::DeprecationWarning", "main.py", env={"PYTHONPATH": str(RUNTIME)})
    address = app.popen.stdout.readline().strip()

    def answer(data: bytes) -> dict[str, Any]:
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), 10) as connection:
            connection.sendall(data + b"\n")
            return json.loads(connection.makefile().readline())

    for strange in (b'{"token":"\\ud800"}', b"[" * 50_000, b"\xff", b"[]"):
        assert not answer(strange)["ok"]
    app.popen.stdin.write("\n")
    app.popen.stdin.flush()
    assert app.popen.stdout.readline() == "['MainThread']\n"
    assert not answer(b'{"token":"wrong"}')["ok"]
    app.popen.stdin.close()
    app.popen.stdin = None
    code, out, err = app.finish()
    assert (code, out, notes.read_text()) == (0, "refused\n", "mine\n"), err
    assert err.count("\n") == 1


def test_a_file_with_the_name_of_a_module_that_we_use_is_still_the_programs_own(scene: Any) -> None:
    names = ["email", "logging", "selectors", "random", "json", "asyncio"]
    for name in names:
        scene.write(f"{name}.py", f"def tell():\n    return 'my {name}'\n")
    scene.write("json/readme.txt", "A folder that is no package.\n")
    path = scene.write(
        "main.py", "".join(f"import {n}\n" for n in names) + f"print([m.tell() for m in ({', '.join(names)})])\n"
    )
    expected = (0, f"{[f'my {name}' for name in names]}\n", "")
    assert scene.run(None, "main.py").finish() == expected
    adapter = scene.adapter(breakpoints=[dot(1, scene.folder / "email.py", "def tell")])
    app = scene.run(adapter, path)
    process, hold = adapter.held()
    assert hold["frames"][0]["name"] == "tell()"
    assert (
        process.request("evaluate", hold=hold["id"], frame=hold["frames"][0]["id"], expression="1 + 1", context="repl")[
            "value"
        ]
        == "2"
    )
    process.release(hold)
    assert app.finish() == expected
