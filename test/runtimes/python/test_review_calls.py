"""Running again, letting go, and conditions that misbehave."""

from __future__ import annotations

from typing import Any

from fake_adapter import RECORD_FUNCTIONS, dot


def test_run_again_starts_from_the_arguments_that_were_given(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        def f(n):
            n = n + 1
            return n

        def g(xs, *rest, key=3, **more):
            out = len(xs) + key
            del xs, key, rest, more
            return out

        print(f(1))
        print(g([1, 2]))
        """,
    )
    adapter = scene.adapter(
        breakpoints=[dot(1, path, "def f", boundaries=["after"]), dot(2, path, "def g", boundaries=["after"])]
    )
    app = scene.run(adapter, "main.py")
    for _ in range(2):
        process, hold = adapter.held()
        process.release(hold, "again")
        process, hold = adapter.held()
        process.release(hold)
    assert app.finish() == (0, "2\n5\n", "")


def test_an_ended_call_lets_go_of_its_arguments(scene: Any) -> None:
    scene.write(
        "main.py",
        """
        import asyncio, gc, weakref

        class Big:
            pass

        async def forever():
            await asyncio.sleep(3600)

        async def connect(big):
            return asyncio.create_task(forever())

        async def main():
            big = Big()
            seen = weakref.ref(big)
            task = await connect(big)
            del big
            gc.collect()
            print("alive", seen() is not None)
            task.cancel()

        asyncio.run(main())
        """,
    )
    adapter = scene.adapter(record=RECORD_FUNCTIONS)
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "alive False\n", "")


def test_a_condition_that_exits_is_one_that_failed(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        class Order:
            @property
            def total(self):
                helper()
                raise SystemExit(7)

        def helper():
            pass

        def f(x):
            return x

        def g(order):
            return 2

        print(f(1))
        print(g(Order()))
        """,
    )
    adapter = scene.adapter(
        breakpoints=[
            dot(1, path, "def f", condition="exit(7)"),
            dot(2, path, "def g", condition="order.total"),
            dot(3, path, "def helper"),
        ]
    )
    app = scene.run(adapter, "main.py")
    assert app.finish() == (0, "1\n2\n", "")
    failed = {event["text"] for _, event in adapter.events if event["event"] == "log"}
    assert failed == {"Condition failed once: SystemExit 7. The breakpoint did not stop."}
