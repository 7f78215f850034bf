"""Row 12: tools that get large values. Arguments: the first part of the figures' names.

The tool is the same with and without Toolbreak; processor time of the calling thread.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from timing import report

name = sys.argv[1]


def look(value: Any) -> int:
    return 1


def table(number: int) -> dict:
    """About 1 MB as it is recorded, another one for each number."""
    return {
        f"key{i}": {"name": f"entry {i} of {number}", "values": list(range(20)), "text": "x" * 60} for i in range(4500)
    }


def page(number: int) -> str:
    """About 100 KB of JSON, as a tool answers it: one of its keys is named as a part of a secret is, and nothing in it is one."""
    return json.dumps([{"id": i, "key": f"entry {i} of {number}", "note": "deliver to the door"} for i in range(1500)])


def median(body: Callable[[Any], object], values: list) -> float:
    times = []
    for value in values:
        start = time.thread_time_ns()
        body(value)
        times.append(time.thread_time_ns() - start)
    return statistics.median(times)


tables = [table(number) for number in range(9)]
look(tables[0])
report(f"{name} dict", median(look, tables))
report(f"{name} dict again", median(look, [tables[-1]] * 9))
report(f"{name} bytes", median(look, [bytes([number]) * 100_000_000 for number in range(3)]))
pages = [page(number) for number in range(10)]
look(pages[0])
report(f"{name} text", median(look, pages[1:]))
report(f"{name} text json", median(json.dumps, pages[1:]))
report(f"{name} json", median(json.dumps, tables))
report(f"{name} size", len(json.dumps(tables[0])))
