"""Prints what a program can see of itself and of its interpreter. What it prints must not depend on a debugger."""

import asyncio
import atexit
import contextlib
import functools
import gc
import inspect
import io
import locale
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings

START = {
    "globals": sorted(globals()),
    "argv": sys.argv,
    "file": __file__,
    "name": __name__,
    "spec": __spec__,
    "package": __package__,
    "loader": type(__loader__).__name__,
    "main": sys.modules["__main__"].__dict__ is globals(),
    "path": sys.path,
    "flags": sys.flags,
    "warnoptions": sys.warnoptions,
    "trace": (sys.gettrace(), sys.getprofile()),
    "hooks": (sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__),
    "threads": [t.name for t in threading.enumerate() if t.name != "toolbreak"],
    "main thread": (threading.current_thread().name, threading.main_thread() is threading.current_thread()),
    "streams": [(s.encoding, s.errors, s.line_buffering, s.isatty(), s.name) for s in (sys.stdin, sys.stdout, sys.stderr)],
    "signals": [(s.name, str(signal.getsignal(s))) for s in sorted(signal.Signals)],
    "logging": (logging.root.level, logging.root.handlers, logging.lastResort is not None, sorted(logging.root.manager.loggerDict)),
    "gc": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, gc.get_freeze_count()),
    "limits": (sys.getrecursionlimit(), sys.getswitchinterval()),
    "filters": [(f[0], str(f[1]), f[2].__name__, str(f[3]), f[4]) for f in warnings.filters],
    "showwarning": warnings.showwarning.__module__,
    "builtins": sorted(set(dir(__builtins__))),
    "environment": sorted(k for k in os.environ if not k.startswith("TOOLBREAK") and k != "PYTHONPATH"),
    "place": (os.getcwd(), oct(os.umask(0o22)), locale.setlocale(locale.LC_ALL)),
    "importing": (type(sys.path_hooks[0]).__name__, [f.__name__ for f in sys.meta_path if getattr(f, "__module__", "").startswith("_frozen")]),
    "policy": type(asyncio.get_event_loop_policy()).__name__ if sys.version_info < (3, 14) else "",
    "tempdir": tempfile.tempdir,
}


def scope(a, b=2, *rest, key=3, **more):
    """Its text."""
    c = a + b
    return sorted(locals().items()), c


def frames():
    return [(f.function, f.lineno, f.code_context) for f in inspect.stack()]


def names():
    frame = sys._getframe()
    return frame.f_code.co_name, frame.f_code.co_varnames, frame.f_lineno, frame.f_back.f_code.co_name, list(frame.f_locals)


def caught():
    try:
        {}["missing"]
    except KeyError:
        return traceback.format_exc()


def chained():
    try:
        try:
            caught_nothing = 1 / 0
            print(caught_nothing)
        except ZeroDivisionError as error:
            raise ValueError("second") from error
    except ValueError as error:
        return "".join(traceback.format_exception(error)), [(f.function, f.lineno) for f in inspect.getinnerframes(error.__traceback__)]


def deep(n):
    return 1 + deep(n - 1) if n else 0


def room():
    frame, used = sys._getframe(), 0
    while frame:
        frame, used = frame.f_back, used + 1
    return sys.getrecursionlimit() - used


def overflow():
    def endless(n):
        return endless(n + 1)

    try:
        endless(0)
    except RecursionError as error:
        return str(error), len(traceback.extract_tb(error.__traceback__))


def generator(n):
    try:
        while n:
            got = yield n
            n = got if got is not None else n - 1
    finally:
        print("generator closed", sys.exc_info()[0])
    return "generator's end"


def delegating():
    return (yield from generator(3))


async def answer(n):
    await asyncio.sleep(0)
    return n, asyncio.current_task().get_name() if n < 0 else ""


async def stream(n):
    for i in range(n):
        yield (await answer(i))[0]


async def cancelled():
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print("cancelled inside")
        raise


async def both():
    task = asyncio.ensure_future(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    results = await asyncio.gather(answer(1), answer(2), task, return_exceptions=True)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(answer, 3)
    return results, [n async for n in stream(3)], len(asyncio.all_tasks())


@functools.lru_cache(maxsize=None)
def cached(n):
    return n * 2


@contextlib.contextmanager
def managed():
    print("entering")
    try:
        yield "inside"
    finally:
        print("leaving")


class Base:
    limit = property(lambda self: 7)

    def __init_subclass__(cls, **given):
        super().__init_subclass__(**given)
        cls.known = [name for name in vars(cls) if not name.startswith("__")]

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        print("repr called")
        return f"Base({self.name})"

    def __getattr__(self, name):
        print("getattr called", name)
        raise AttributeError(name)

    def __eq__(self, other):
        print("eq called")
        return NotImplemented

    def __del__(self):
        print("deleted", self.name)

    def method(self):
        return __class__.__name__

    @classmethod
    def make(cls, name):
        return cls(name)

    @staticmethod
    def still(x):
        return x


class Derived(Base):
    def method(self):
        return super().method() + " derived"

    def __hidden(self):
        return self.__hidden.__name__

    def call(self):
        return self.__hidden()


def take(thing):
    return thing.name


def lifetime():
    thing = Derived.make("thing")
    found = take(thing), thing.method(), thing.call(), thing.limit, Derived.known, Derived.still(1)
    print("before the end of thing")
    del thing
    print("after the end of thing")
    return found


def warn():
    warnings.warn("careful", UserWarning, stacklevel=2)


def source(function):
    text = inspect.getsource(function)
    return text, inspect.signature(function), function.__code__.co_firstlineno, inspect.getdoc(function), inspect.getclosurevars(function).globals.keys()


def counter():
    count = 0

    def up():
        nonlocal count
        count += 1
        return count

    return up


def threads():
    seen = []
    made = [threading.Thread(target=lambda n=n: seen.append((threading.current_thread().name, n)), name=f"mine-{n}") for n in range(2)]
    for thread in made:
        thread.start()
        thread.join()
    return seen


def fork():
    if not hasattr(os, "fork"):
        return "no fork"
    out, into = os.pipe()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        child = os.fork()
        if child == 0:
            os.write(into, repr((scope(5), deep(50), [str(w.message) for w in said])).encode())
            os._exit(6)
    _, status = os.waitpid(child, 0)
    os.close(into)
    with open(out, "rb") as pipe:
        return pipe.read().decode(), os.waitstatus_to_exitcode(status), [str(w.message) for w in said]


def traced():
    lines = []

    def trace(frame, event, arg):
        if frame.f_code.co_name == "cached_free":
            lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return trace

    sys.settrace(trace)
    try:
        cached_free(2)
    finally:
        sys.settrace(None)
    return lines


def cached_free(n):
    total = n
    for i in range(n):
        total += i
    return total


def handled():
    seen = []

    def handler(number, frame):
        seen.append((signal.Signals(number).name, frame.f_code.co_name))

    before = signal.signal(signal.SIGINT, handler)
    signal.raise_signal(signal.SIGINT)
    return seen, signal.signal(signal.SIGINT, before) is handler


def logged():
    text = io.StringIO()
    log = logging.getLogger("probe")
    log.addHandler(logging.StreamHandler(text))
    log.handlers[0].setFormatter(logging.Formatter("%(funcName)s %(lineno)d %(threadName)s %(processName)s %(message)s"))
    log.error("to the log")
    return text.getvalue()


def main():
    for name, value in START.items():
        print(name, value)
    print(scope(1), scope(1, 2, 3, key=4, other=5))
    print(frames(), names())
    print(caught(), *chained())
    if "--deep" in sys.argv:
        print(deep(room() - 20), overflow())
    print(list(delegating()))
    sent = generator(2)
    print(next(sent), sent.send(9))
    sent.close()
    print(asyncio.run(both()))
    print(cached(2), cached(2), cached.cache_info())
    with managed() as inside:
        print(inside)
    print(lifetime())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn()
    print([(str(w.message), w.filename, w.lineno) for w in said])
    if not sys.warnoptions:
        warn()
    for function in (scope, generator, answer, Derived.method, deep):
        print(*source(function))
    print(inspect.isgeneratorfunction(generator), inspect.iscoroutinefunction(answer), inspect.isasyncgenfunction(stream))
    up = counter()
    print(up(), up(), up.__closure__[0].cell_contents, up.__qualname__, up.__module__, up.__annotations__, up.__defaults__)
    print(threads(), fork(), handled(), logged())
    if "--deep" in sys.argv:
        print(traced())
    print(sorted(globals()) == sorted([*START["globals"], "START", *MADE]), gc.garbage)
    print("last", file=sys.stderr)


MADE = sorted(name for name in globals() if name not in START["globals"] and name != "START") + ["MADE"]
atexit.register(print, "registered first")
atexit.register(print, "registered second")

if __name__ == "__main__":
    main()
