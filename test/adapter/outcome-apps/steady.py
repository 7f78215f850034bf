"""Calls a tool again and again in two threads, and notes outside of itself which calls returned.

Usage: steady.py FOLDER CALLS. The folder gets `returned-0` and `returned-1`, numbers that are stored only after a call returned and that
survive a kill, and at the end `result`.
"""

import mmap
import os
import sys
import threading


def tool(n, thread, text):
    return {"n": n, "thread": thread, "text": text, "length": len(text)}


def hold_me(n):
    return n + 1


def work(folder, thread, calls, totals):
    path = os.path.join(folder, f"returned-{thread}")
    with open(path, "w+b") as file:
        file.truncate(8)
        returned = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
    for n in range(calls):
        totals[thread] += tool(n, thread, "x" * (n * 37 % 3000))["length"]
        returned[0] = n + 1
        if n % 20 == 0:
            print(thread, n)


def main():
    folder, calls = sys.argv[1], int(sys.argv[2])
    totals = [0, 0]
    threads = [threading.Thread(target=work, args=(folder, n, calls, totals)) for n in range(2)]
    for thread in threads:
        thread.start()
    held = hold_me(1)
    for thread in threads:
        thread.join()
    print("done", flush=True)
    with open(os.path.join(folder, "result"), "w") as file:
        file.write(f"{held} {totals}")


if __name__ == "__main__":
    main()
