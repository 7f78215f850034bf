"""Row 1's reference: the OpenTelemetry API, with no SDK behind it."""

import sys

from opentelemetry import trace
from timing import per_call, report

tracer = trace.get_tracer("bench")


def work(number: int, text: str) -> dict:
    with tracer.start_as_current_span("work"):
        return {"number": number, "text": text}


def loop(calls: int) -> None:
    for number in range(calls):
        work(number, "abc")


if __name__ == "__main__":
    name, calls = sys.argv[1], int(sys.argv[2])
    report(name, per_call(lambda: loop(calls), calls))
