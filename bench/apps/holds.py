"""Rows 8 and 9: a busy app to pause, and a function to stop at again and again. Argument: "busy" or "stops"."""

import sys


def tick(number: int) -> int:  # BP: tick
    return number + 1


if __name__ == "__main__":
    number = 0
    limit = 10**12 if sys.argv[1] == "busy" else 400
    while number < limit:
        number = tick(number)
