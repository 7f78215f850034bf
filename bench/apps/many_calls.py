"""Row 10: one small function, called as often and as quickly as can be. Argument: calls. Prints the wall clock before the first and behind the last, in seconds."""

import json
import sys
import time


def work(number: int, text: str) -> dict:
    return {"number": number, "text": text}


def main(calls: int) -> None:
    begin = time.time()
    for number in range(calls):
        work(number, "abc")
    print(json.dumps([begin, time.time()]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
