"""Medians of repeated loops, printed as one JSON line a figure."""

import json
import statistics
import time
from collections.abc import Callable


def per_call(body: Callable[[], object], calls: int, rounds: int = 9) -> float:
    """Nanoseconds a call: the median over rounds of `body`, which makes `calls` calls."""
    body()
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        body()
        times.append((time.perf_counter_ns() - start) / calls)
    return statistics.median(times)


def report(name: str, value: float) -> None:
    print(json.dumps({"figure": name, "value": value}), flush=True)
