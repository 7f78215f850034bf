"""Ends in the way its first argument names."""

import asyncio
import atexit
import os
import signal
import sys
import threading
import warnings

BEGUN = threading.Event()


def note(text):
    print("at exit:", text, threading.current_thread().name)


def inner(x):
    y = x * 2
    raise LookupError(f"nothing at {y}")


def outer(x):
    try:
        inner(x)
    except LookupError as error:
        error.args += ("seen",)
        raise RuntimeError(
            "outer failed"
        ) from error


def uncaught():
    outer(4)


def plain():
    return inner([1])


def exits():
    sys.exit(3)


def text():
    sys.exit("a text on stderr")


def hard():
    print("not flushed", end="")
    os._exit(4)


def killed():
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def aborted():
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)


def interrupted():
    signal.raise_signal(signal.SIGINT)


def asleep():
    BEGUN.set()
    threading.Event().wait()


def daemon():
    threading.Thread(target=asleep, daemon=True).start()
    BEGUN.wait()


def slow():
    # The main thread has ended then, with what it printed.
    threading.main_thread().join()
    print("the thread's last words")


def joined():
    threading.Thread(target=slow).start()


def dead_thread():
    thread = threading.Thread(target=plain, name="dying")
    thread.start()
    thread.join()


def broken_hook():
    sys.excepthook = lambda kind, error, trace: print("my hook", kind.__name__, error)
    plain()


def recursion():
    return recursion()


def unraisable():
    class Bad:
        def __del__(self):
            inner(1)

    thing = Bad()
    del thing
    print("went on")


def never_awaited():
    asyncio.run(main_of_never())


async def nothing():
    pass


async def main_of_never():
    nothing()
    print("went on")


async def fails(n):
    await asyncio.sleep(0)
    inner(n)


async def two():
    await asyncio.gather(fails(1), fails(2))


def in_task():
    asyncio.run(two())


def warned():
    warnings.warn("a deprecated thing", DeprecationWarning, stacklevel=1)
    print("went on")


def syntax():
    compile("a b", "given.py", "exec")


def group():
    if sys.version_info < (3, 11):
        return
    raise ExceptionGroup("several", [ValueError(1), TypeError("two")])  # noqa: F821


def unreadable():
    class Odd(Exception):
        def __str__(self):
            raise ValueError("no text")

    raise Odd(1)


WAYS = {name: value for name, value in list(globals().items()) if callable(value) and name[0] != "_"}


def main():
    atexit.register(note, "first")
    atexit.register(note, "second")
    print("begins", sys.argv[1])
    WAYS[sys.argv[1].replace("-", "_")]()
    print("ends")


if __name__ == "__main__":
    main()
