"""Row 6: code that nobody asked about, while a debugger is armed elsewhere: calls, recursion, and a loop in the armed function's module."""

import sys

from timing import per_call, report


def armed() -> int:  # BP: armed
    return 1


def small(number: int) -> int:
    return number + 1


def fibonacci(number: int) -> int:
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


def calls() -> None:
    for number in range(200_000):
        small(number)


def loop() -> int:
    total = 0
    for number in range(500_000):
        total += number % 7
    return total


if __name__ == "__main__":
    prefix = sys.argv[1]
    report(f"{prefix} call", per_call(calls, 200_000, 5))
    report(f"{prefix} recursion", per_call(lambda: fibonacci(20), 21_891, 5))
    report(f"{prefix} loop", per_call(loop, 500_000, 5))
