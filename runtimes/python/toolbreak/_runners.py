"""Programs that run another file as the main module: `runpy`, and cProfile, trace, coverage and pdb from the command line.

The file's code comes from none of the import system's loaders, so it is met where such a program compiles or reads it.
"""

# No `from __future__` here: `compile` would take it for the program's.

import os
import sys
from typing import Any

from . import _guards, _imports, _report, _sources, _stops

#: Modules of the standard library that compile the program by the name `compile`, when they are the main module themselves.
_COMPILING = ("cProfile", "trace")
#: Those that hide it, and leave it to us to see it begin.
_LATER = ("pdb",)
#: Writes the code object itself into its result, where no guard may be.
_HIDING = "profile"


def prepared(code: Any) -> Any:
    """The code of a main module, with guards in it."""
    if _imports.prepare_code is None or not hasattr(code, "co_filename") or not _sources.is_user(code.co_filename):
        return code
    made = _report.guard(_imports.prepare_code, code, code.co_filename, "__main__")
    if made is None:
        return code
    _report.guard(_stops.arm)
    if _imports.after_import is not None:
        _report.guard(_imports.after_import, "__main__", code.co_filename)
    return made


def compiled(source: Any, filename: Any, mode: Any, flags: int = 0, dont_inherit: bool = True, **more: Any) -> Any:
    """Stands in for the built-in function in such a program."""
    made = compile(source, filename, mode, flags, True, **more)
    return prepared(made) if mode == "exec" else made


def install() -> None:
    _imports.on_import("runpy", _runpy)
    _imports.on_import("coverage.execfile", _compiles)


def _runpy(module: Any) -> None:
    original = getattr(module, "_get_code_from_file", None)
    if original is None or hasattr(original, "__wrapped__"):
        return

    def _get_code_from_file(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        # 3.12 and later answer with the code alone.
        return (prepared(found[0]), *found[1:]) if isinstance(found, tuple) else prepared(found)

    _get_code_from_file.__wrapped__ = original  # type: ignore[attr-defined]
    module._get_code_from_file = _get_code_from_file


def _compiles(module: Any) -> None:
    module.__dict__.setdefault("compile", compiled)


def is_runner(code: Any, namespace: dict[str, Any]) -> bool:
    """Whether the main module that begins here runs another one later, which has to be waited for."""
    folder, file = os.path.split(os.path.realpath(code.co_filename))
    if folder != os.path.dirname(os.path.realpath(os.__file__)):
        return False
    name = file.removesuffix(".py")
    if name in _COMPILING:
        namespace.setdefault("compile", compiled)
    if name == _HIDING:
        _guards.hidden_by = name
    return name in _LATER and not sys.argv[1:2] == ["-m"]
