"""Calls a tool again and again in several threads and processes, and notes outside of itself which calls returned.

Usage: steady.py FOLDER CALLS [THREADS [CHILDREN]]. The folder gets `returned-PID-THREAD`, numbers that are stored only after a call returned
and that survive a kill, and from the first process at the end `result`. Every second child is forked, the others are programs of their own.
"""

import mmap
import multiprocessing
import os
import subprocess
import sys
import threading


def tool(n, thread, text):
    return {"n": n, "thread": thread, "text": text, "length": len(text)}


def hold_me(n):
    return n + 1


def work(folder, thread, calls, totals):
    path = os.path.join(folder, f"returned-{os.getpid()}-{thread}")
    with open(path, "w+b") as file:
        file.truncate(8)
        returned = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
    for n in range(calls):
        totals[thread] += tool(n, thread, "x" * (n * 37 % 3000))["length"]
        returned[0] = n + 1
        if n % 20 == 0:
            print(thread, n)


def start(folder, calls, count):
    totals = [0] * count
    threads = [threading.Thread(target=work, args=(folder, n, calls, totals)) for n in range(count)]
    for thread in threads:
        thread.start()
    return threads, totals


def forked(folder, calls, count):
    threads, _ = start(folder, calls, count)
    for thread in threads:
        thread.join()


def begin_child(index, folder, calls, count):
    if index % 2 == 0:
        # Before this process has threads of its own.
        child = multiprocessing.get_context("fork").Process(target=forked, args=(folder, calls, count))
        child.start()
        return child.join
    return subprocess.Popen([sys.executable, __file__, folder, str(calls), str(count), "-1"]).wait


def main():
    folder, calls, count, children = sys.argv[1], *map(int, [*sys.argv[2:], "2", "0"][:3])
    waits = [begin_child(index, folder, calls, count) for index in range(children)]
    threads, totals = start(folder, calls, count)
    held = hold_me(1)
    for thread in threads:
        thread.join()
    for wait in waits:
        wait()
    print("done", flush=True)
    if children >= 0:
        with open(os.path.join(folder, "result"), "w") as file:
            file.write(f"{held} {totals}")


if __name__ == "__main__":
    main()
