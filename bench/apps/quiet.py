"""Row 1: a function with a guard compiled in, while no debugger is attached. Arguments: figure name, calls."""

import pathlib
import sys

from timing import per_call, report

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtimes" / "python"))

import toolbreak  # noqa: E402


@toolbreak.tool
def work(number: int, text: str) -> dict:
    return {"number": number, "text": text}


def loop(calls: int) -> None:
    for number in range(calls):
        work(number, "abc")


if __name__ == "__main__":
    name, calls = sys.argv[1], int(sys.argv[2])
    report(name, per_call(lambda: loop(calls), calls))
