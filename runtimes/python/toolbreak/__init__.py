"""Toolbreak: a debugger for agent workflows. `wrap`, `tool`, `listen`, `record` and `Cancelled` are public; nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from ._boundaries import Cancelled

__version__ = "0.1.0"
__all__ = ["Cancelled", "listen", "record", "tool", "wrap"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F) -> F: ...
@overload
def tool(*, name: str | None = None) -> Callable[[F], F]: ...
def tool(function: Any = None, *, name: str | None = None) -> Any:
    """Says that a function is a tool: its calls can be stopped and are recorded, as kind `tool`. The function itself stays what it is."""
    if function is None:
        return lambda given: wrap(given, name=name, kind="tool")
    return wrap(function, name=name, kind="tool")


def wrap(function: F, *, name: str | None = None, kind: str = "function") -> F:
    """The function, or a wrapper where it has no source: its calls can be stopped and are recorded.

    `kind` is one of workflow, node, tool, llm, http, function. Raises ValueError for another one.
    """
    if kind not in ("workflow", "node", "tool", "llm", "http", "function"):
        raise ValueError(f"kind must be workflow, node, tool, llm, http or function, not {kind!r}")
    from ._wrapping import wrap as _wrap

    return _wrap(function, name, kind)


def listen(port: int | str = 0, host: str = "127.0.0.1", wait: bool = False) -> str:
    """Lets a debugger attach to this process, now or later; answers the address. Prints it with its token on stderr.

    `port` 0 chooses a free one; a path makes a Unix socket. With `wait` the program goes on once a debugger is there.
    Raises ValueError for a host that is not this machine's own loopback, and OSError when the port is taken.
    """
    from ._listening import listen as _listen

    return _listen(port, host, wait)


def record(folder: str | None = None) -> str:
    """Records this process, and those it starts, into a folder, without any debugger; `toolbreak import FOLDER` takes it over. Answers the run's own folder.

    A process that is recorded already goes on as it is: the answer is its folder, or empty where it is a debugger that records.
    `folder` is TOOLBREAK_RECORD of the environment when it is None. Raises ValueError where there is neither, and OSError when the folder cannot be
    written.
    """
    import os

    from ._record import begin as _begin

    folder = folder or os.environ.get("TOOLBREAK_RECORD")
    if not folder:
        raise ValueError("name a folder, or set TOOLBREAK_RECORD")
    return _begin(folder)


def __getattr__(name: str) -> Any:
    if name == "Cancelled":
        from ._boundaries import Cancelled

        return Cancelled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
