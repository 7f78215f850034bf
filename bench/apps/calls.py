"""Rows 1, 3 and 7: one small function, called often. Arguments: figure name, calls."""

import sys

from timing import per_call, report


def work(number: int, text: str) -> dict:  # BP: work
    return {"number": number, "text": text}


def loop(calls: int) -> None:
    for number in range(calls):
        work(number, "abc")


if __name__ == "__main__":
    name, calls = sys.argv[1], int(sys.argv[2])
    report(name, per_call(lambda: loop(calls), calls))
