"""Programs whose lines are stopped at, and what is seen there."""

from __future__ import annotations

from typing import Any

SHOP = """
    RATE = 2


    def total(items):
        sum = 0
        # what it comes to
        for item in items:
            sum += item * RATE
        return sum


    def main():
        print(total([1, 2, 3]))


    main()
"""


STEPS = """
    def double(x):
        y = x * 2
        return y


    def work(n):
        a = double(n)
        b = double(a)
        return a + b


    def main():
        first = work(1)
        second = work(2)
        print(first, second)


    main()
"""


def scope(process: Any, hold: Any, name: str, frame: int = 0) -> dict[str, str]:
    found = process.request("scopes", hold=hold["id"], frame=hold["frames"][frame]["id"])["scopes"]
    ref = next(each["ref"] for each in found if each["name"] == name)
    return {v["name"]: v["value"] for v in process.request("variables", hold=hold["id"], ref=ref)["variables"]}


def places(hold: Any) -> list[tuple[str, str, int]]:
    return [(frame["name"], frame["kind"], frame["line"]) for frame in hold["frames"]]


def at(hold: Any) -> tuple[str, int]:
    return hold["frames"][0]["name"].replace("main.<", "<"), hold["frames"][0]["line"]


def walk(adapter: Any, *kinds: str) -> list[tuple[str, int]]:
    """Where each of these steps ends."""
    found: list[tuple[str, int]] = []
    for kind in kinds:
        process, hold = adapter.held()
        found.append(at(hold))
        if kind == "go":
            process.release(hold)
        else:
            process.release(hold, step=kind)
    return found
