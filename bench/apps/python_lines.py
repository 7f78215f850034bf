"""Row 16: lines to stop at, with variables of several kinds. Argument: how many times."""

import sys


def work(number: int) -> int:
    part = {"id": number, "weight": 1.5, "name": "part"}
    numbers = list(range(8))
    total = numbers[1]  # BP: line
    total += number
    total += len(part)
    return total


if __name__ == "__main__":
    whole = 0
    for turn in range(int(sys.argv[1])):
        whole += work(turn)
    print(whole)
