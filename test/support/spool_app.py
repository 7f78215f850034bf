"""Writes spool files with the real writer, without the rest of the runtime: `spool_app.py FOLDER CALLS [THREADS]`.

Prints the number of each call whose End frame is committed, as 8 bytes in a file `FOLDER/returned-<thread>`, so that a test that kills the
process knows what must be found. Prints `ready` first and `done` at the end, then waits for its standard input to close.
"""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "runtimes", "python"))
from toolbreak._writer import Writer  # noqa: E402

numbers = itertools.count(1)


def call(function: Any, task: Any, parent: Any, args: dict[str, Any]) -> Any:
    return SimpleNamespace(
        number=next(numbers),
        parent=parent,
        function=function,
        task=task,
        started_ns=time.monotonic_ns(),
        args=args,
        attributes=None,
        result=None,
        error=None,
    )


def function(number: int, kind: str, name: str) -> Any:
    return SimpleNamespace(id=number, kind=kind, name=name, qualname=f"app.{name}", module="app", path="/app/app.py", line=number, end_line=number + 3)


def run(writer: Writer, folder: str, thread: int, calls: int) -> None:
    task = SimpleNamespace(id=thread + 1, name=f"agent {thread}", parent=None)
    flow, tool = function(1, "workflow", "agent"), function(2, "tool", "lookup_order")
    path = os.path.join(folder, f"returned-{thread}")
    with open(path, "wb") as file:
        file.truncate(8)
    with open(path, "r+b") as file:
        # A mapped counter: stored only after the frame is committed, and it survives a kill just as the frame does.
        returned = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
    top = call(flow, task, None, {"question": "where is my order?"})
    writer.start(top)
    for index in range(calls):
        inner = call(tool, task, top, {"order_id": index, "region": "eu"})
        writer.start(inner)
        inner.result = {"state": "sent", "note": "x" * (index % 700), "items": [index, index + 1]}
        writer.end(inner, 0)
        returned[0] = index + 1
    top.result = "done"
    writer.end(top, 0)


def main() -> None:
    folder, calls = sys.argv[1], int(sys.argv[2])
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    writer = Writer(folder, f"{os.getpid()}-{time.time_ns():x}", info={"name": "spool_app.py"})
    print("ready", flush=True)
    workers = [threading.Thread(target=run, args=(writer, folder, number, calls)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("done", flush=True)
    sys.stdin.read()


main()
