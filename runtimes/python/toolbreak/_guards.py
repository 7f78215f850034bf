"""Compiles a guard into user functions and takes it back.

A guarded function stays one frame, with its own lines, names and kind. Its code begins with `if <guard>.armed:` and a copy of the body
with calls to the guard around it; what follows `else` is the body as it was. The guard object is a constant of the code.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import threading
from collections.abc import Callable
from functools import partial
from itertools import chain, compress, islice, repeat
from operator import is_
from types import CodeType, FrameType, FunctionType
from typing import Any

from . import _call_types, _calls, _guard_code, _in_place, _report, _sources
from ._calls import real_path
from ._guard_state import Guard

Key = tuple[str, int, str]

_guards: dict[Key, Guard] = {}
#: Keys that are to be guarded now: file, first line, name.
_wanted: set[Key] = set()
#: Why a wanted function has no guard: a sentence.
refused: dict[Key, str] = {}
#: A code object of ours, by id, with the code it stands for. Holding both keeps the ids valid.
_originals: dict[int, tuple[CodeType, CodeType]] = {}
#: Files whose modules run or ran in this process.
loaded: set[str] = set()
_dots: set[Key] = set()
_declared: dict[Key, str] = {}
_declared_names: dict[Key, str] = {}
_patterns: list[Callable[[str, str, str], bool]] = []
#: Of these, the ones that may name functions of others, too.
_wide: list[Callable[[str, str, str], bool]] = []
_files_touched: set[str] = set()
_started = 0.0
#: Module and qualified name of every function that was looked at, by key: what patterns are asked about.
_labels: dict[Key, tuple[str, str]] = {}
#: Guards change in the control thread (a new table) and in threads that run module code: one at a time. Whoever imports a module waits for this
#: while others wait for the module, so whoever holds it brings in no module of a kind that the app imports, too.
_changing = threading.RLock()


def _exclusive(function: Any) -> Any:
    def alone(*args: Any) -> Any:
        with _changing:
            return function(*args)

    return alone


def _forked() -> None:
    """The thread that held it does not exist in the child."""
    global _changing
    _changing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _key(code: CodeType) -> Key:
    return (real_path(code.co_filename), code.co_firstlineno, code.co_name)


# ---------------------------------------------------------------- what is wanted


def compile_patterns(patterns: list[str], globs: list[re.Pattern[str]]) -> None:
    """What `record.functions` names, and the globs of function breakpoints that may mean plain functions of the person's own."""
    made: list[Callable[[str, str, str], bool]] = []
    wide: list[Callable[[str, str, str], bool]] = []
    for pattern in patterns:
        if pattern == "@usercode":
            made.append(lambda path, module, qualname: _sources.is_user(path))
        elif pattern.startswith("@file:"):
            expression = _path_pattern(pattern[6:])
            wide.append(lambda path, module, qualname, e=expression: e.fullmatch(path) is not None)
        else:
            expression = re.compile(
                "".join(
                    ".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", pattern.replace("**", "*"))
                )
            )
            wide.append(lambda path, module, qualname, e=expression: e.fullmatch(f"{module}.{qualname}") is not None)
    for glob in globs:
        made.append(
            lambda path, module, qualname, g=glob: (
                _sources.is_user(path)
                and (
                    g.fullmatch(qualname.rpartition(".")[2]) is not None
                    or g.fullmatch(_call_types.with_class(qualname)) is not None
                    or g.fullmatch(qualname.replace("<locals>.", "")) is not None
                )
            )
        )
    _patterns[:] = made + wide
    _wide[:] = wide


def _path_pattern(glob: str) -> re.Pattern[str]:
    absolute = glob if os.path.isabs(glob) else os.path.join(os.path.realpath(os.getcwd()), glob)
    out = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", absolute.replace(os.sep, "/")):
        out += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return re.compile(out)


def _wants(code: CodeType, key: Key, module: str, qualname: str) -> bool:
    if key in _dots or key in _declared:
        return True
    if not _patterns or key[2].startswith("<") or _sources.is_ours(key[0]):
        return False
    return any(pattern(key[0], module, qualname) for pattern in _patterns)


def all_functions() -> list[FunctionType]:
    """
    Every function there is. The list of all objects keeps them alive, and known to us, while it exists: an app that lets go of a file
    meanwhile would find it still open, and one that makes a tuple of a generator could not. So that list is made, sifted and let go inside
    one call of C, during which no other thread runs. The collector would run finalisers in the middle of it, so it rests, if it is on.
    """
    # `pop`: what has been asked for must not be held from outside, since it holds the last objects it saw until it goes.
    ways: dict[bool, Any] = {True: chain(iter(gc.disable, None), _sift(), iter(gc.enable, None)), False: _sift()}
    return list(chain.from_iterable(map(ways.pop, islice(iter(gc.isenabled, None), 1))))


def _sift() -> Any:
    """
    An iterator that does all of it in C once it is asked, and runs nothing of the app: not even `__class__` is looked up.

    The objects of a generation are listed twice, for themselves and for their types, in the same order: new objects come last, in the
    youngest. A `tee` of one list would do, were it not an object itself: it and the list would hold each other, and all that is in it.
    """
    types = map(partial(map, type), map(gc.get_objects, range(3)))
    chosen: Any = map(map, repeat(is_), types, repeat(repeat(FunctionType)))
    return chain.from_iterable(map(compress, map(gc.get_objects, range(3)), chosen))


def _still_wanted(key: Key) -> bool:
    if key in _dots or key in _declared:
        return True
    label = _labels.get(key)
    return label is not None and any(pattern(key[0], *label) for pattern in _patterns)


# ---------------------------------------------------------------- code objects


def _make(keys: list[Key], filename: str, module: str) -> None:
    """Compiles the guards of some functions of one file, all at once."""
    path = keys[0][0]
    todo = [key for key in keys if key not in _guards and key not in refused]
    if not todo:
        return
    try:
        source = _sources.file(path)
    except (OSError, SyntaxError, ValueError) as error:
        _report.let_through(error)
        for key in todo:
            refused[key] = (
                f"The source of {os.path.basename(path)} cannot be read ({type(error).__name__}), so its functions cannot be stopped."
            )
        return
    spots = []
    for key in todo:
        spot = source.by_key.get(key)
        if spot is None:
            refused[key] = f"{os.path.basename(path)} changed since it was loaded; restart to stop in {key[2]}."
        else:
            spots.append(spot)
            guard = _guards[key] = Guard(spot, _declared.get(key, "function"))
            guard.label = _declared_names.get(key, spot.name)
    guards = [_guards[spot.key] for spot in spots]
    try:
        plain = _guard_code.plain_codes(source, filename)
        made = _guarded(source, filename, guards)
    except Exception as error:
        _report.let_through(error)
        made, plain = {}, {}
        for guard in guards:
            if len(guards) == 1:
                refused[guard.spot.key] = f"{guard.spot.name} cannot be stopped: {error}."
                _guards.pop(guard.spot.key, None)
        if len(guards) > 1:  # One of them is to blame: try each alone.
            for guard in guards:
                _guards.pop(guard.spot.key, None)
            for key in todo:
                if key not in refused:
                    _make([key], filename, module)
            return
    for guard in guards:
        key = guard.spot.key
        code = made.get(key)
        if code is not None:
            guard.code = code
            guard.quick()
            guard.plain = plain.get(key)
            guard.module = module
    _files_touched.add(path)


#: Makes the tree of a file with its watched lines, and the code of one function with them; where they are compiled in (`_line_hooks`).
hooked: Callable[[_sources.File], tuple[Any, dict[str, Any]]] | None = None
hooked_code: Callable[[CodeType], CodeType | None] | None = None


def _guarded(source: _sources.File, filename: str, guards: list[Guard]) -> dict[Key, CodeType]:
    tree, hooks = hooked(source) if hooked is not None else (_guard_code.copied(source.tree), {})
    return _guard_code.guarded_codes(source, filename, guards, tree, hooks)


def recompile(paths: set[str]) -> None:
    """The watched lines of these files changed, and are compiled into their functions."""
    _recompile(paths)
    _in_place.write()


@_exclusive
def _recompile(paths: set[str]) -> None:
    _files_touched.update(paths)
    for path in paths:
        guards = [guard for key, guard in _guards.items() if key[0] == path and guard.code is not None]
        if not guards:
            continue
        filename = guards[0].code.co_filename  # type: ignore[union-attr]
        try:
            made = _guarded(_sources.file(path), filename, guards)
        except Exception as error:
            _report.let_through(error)  # As they were, without the new lines.
            continue
        for guard in guards:
            guard.code = made.get(guard.spot.key, guard.code)
    _change(set(_dots))


def _fits(guard: Guard, original: CodeType) -> bool:
    """Whether the guard was compiled from the same text as the code that runs."""
    plain = guard.plain
    if plain is None or guard.code is None:
        return False
    if (
        guard.code.co_freevars != original.co_freevars
        or guard.code.co_varnames[: original.co_argcount] != original.co_varnames[: original.co_argcount]
    ):
        return False
    return same_code(plain, original) or _sources.file(guard.spot.path).modified < process_started()


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether both do the same: equal instructions may still use other names and constants."""
    for part in ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable"):
        if getattr(one, part, None) != getattr(other, part, None):
            return False
    return len(one.co_consts) == len(other.co_consts) and all(map(_same_constant, one.co_consts, other.co_consts))


def _same_constant(one: Any, other: Any) -> bool:
    """By type as well as value: 1, 1.0 and True are equal, and so are 0.0 and -0.0."""
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    return one == other if isinstance(one, frozenset) else repr(one) == repr(other)


def process_started() -> float:
    global _started
    if not _started:
        import time

        try:
            _started = os.stat(f"/proc/{os.getpid()}").st_ctime
        except OSError as error:
            _report.let_through(error)
            _started = time.time()
    return _started


def _collect(code: CodeType, module: str, qualname: str, found: list[Key]) -> None:
    key = _key(code)
    label = code.co_name if not qualname else f"{qualname}.{code.co_name}"
    if code.co_name == "<module>" or code.co_name.startswith("<generic"):
        label = qualname
    elif code.co_flags & 0x2 and code.co_name != "<lambda>" and _wants(code, key, module, _qualname(code, label)):
        _labels[key] = (module, _qualname(code, label))
        found.append(key)
    inner = f"{label}.<locals>" if code.co_flags & 0x2 and label else label
    for const in code.co_consts:
        if isinstance(const, CodeType):
            _collect(const, module, inner, found)


def _qualname(code: CodeType, fallback: str) -> str:
    return getattr(code, "co_qualname", fallback)


def original(code: CodeType) -> CodeType:
    """What a code object of ours stands for."""
    entry = _originals.get(id(code))
    return entry[1] if entry is not None else code


def known_codes() -> list[tuple[CodeType, CodeType]]:
    """Every code object of ours, with the one it stands for."""
    return list(_originals.values())


#: Told of every code object that is about to be a function's.
on_code: Callable[[CodeType], None] | None = None


def _render(code: CodeType, plain: bool = True) -> CodeType:
    """The code with every wanted guard in it; the same object where nothing is wanted. Not `plain`: its watched lines are compiled in already."""
    entry = _originals.get(id(code))
    original = entry[1] if entry is not None else code
    base = original
    key = _key(original)
    if key in _wanted:
        guard = _guards.get(key)
        if guard is not None and guard.code is not None:
            if _fits(guard, original):
                base = guard.code
            else:
                refused[key] = f"{os.path.basename(key[0])} changed since it was loaded; restart to stop in {key[2]}."
    if plain and base is original and hooked_code is not None:
        base = hooked_code(original) or original
    plain = plain and base is original
    consts = tuple([_render(c, plain) if isinstance(c, CodeType) else c for c in base.co_consts])
    if any(new is not old for new, old in zip(consts, base.co_consts)):
        base = base.replace(co_consts=consts)
    if base is not original:
        cached = _rendered.get((id(original), _version))
        if cached is not None:
            return cached
        if base is not code:
            _rendered[(id(original), _version)] = base
            _originals[id(base)] = (base, original)
            if on_code is not None:
                _report.guard(on_code, base)
    return base


#: The main module's code, as a function: Python 3.10 has none for it.
_begun: list[FunctionType] = []
_version = 0
_rendered: dict[tuple[int, int], CodeType] = {}


@_exclusive
def prepare(code: CodeType, path: str, module: str) -> CodeType:
    """Module code on its way to be run, with guards in it."""
    real = real_path(path)
    loaded.add(real)
    found: list[Key] = []
    _collect(code, module, "", found)
    if found:
        _make(found, code.co_filename, module)
        _wanted.update(found)
        _arm_new(found)
    if found or hooked_code is not None:
        code = _render(code)
    if on_code is not None:
        _report.guard(on_code, code)
    return code


def _arm_new(keys: list[Key]) -> None:
    """Functions of a module on its way may be called before the next look at what has to be armed."""
    for key in keys:
        guard = _guards.get(key)
        if guard is not None:
            guard.armed = _calls.attached


def reconcile(dots: set[Key]) -> None:
    """Makes every function of the process what is wanted now: guards come, go, or stay."""
    _change(dots)
    _in_place.write()


@_exclusive
def _change(dots: set[Key]) -> None:
    global _version
    _version += 1
    _rendered.clear()
    _dots.clear()
    _dots.update(dots)
    before = set(_wanted)
    # A module on its way has functions that do not exist yet, with guards in its code: those that are still wanted stay so.
    kept = [key for key in before if _still_wanted(key)]
    _wanted.clear()
    _wanted.update(kept)
    files = {key[0] for key in dots} | {key[0] for key in _declared} | _files_touched
    everything = bool(_patterns)
    if not files and not everything:
        return
    names = {os.path.basename(path) for path in files}
    functions: list[FunctionType] = []
    wanted_by_file: dict[str, tuple[str, str, list[Key]]] = {}
    named: dict[str, bool] = {}
    for item in all_functions() + _begun:
        code = item.__code__
        filename = code.co_filename
        if not everything and filename.rpartition(os.sep)[2] not in names and real_path(filename) not in files:
            continue
        if (
            everything
            and real_path(filename) not in files
            and not (_sources.is_user(filename) or _may_be_named(item, named))
        ):
            continue
        functions.append(item)
        entry = _originals.get(id(code))
        original = entry[1] if entry is not None else code
        found: list[Key] = []
        module = _module_of(item)
        qualname = item.__qualname__.rpartition(".")[0]
        _collect(original, module, qualname, found)
        if found:
            wanted_by_file.setdefault(found[0][0], (filename, module, []))[2].extend(found)
    for filename, module, keys in wanted_by_file.values():
        unique = list(dict.fromkeys(keys))
        _make(unique, filename, module)
        _wanted.update(unique)
    for item in functions:
        try:
            if item.__code__.co_name == "<module>":  # A module that is being imported, or the main one.
                _render_in_place(item.__code__)
                continue
            code = _render(item.__code__)
            if code is not item.__code__:
                item.__code__ = code
        except Exception as error:
            _report.failure(error)
    for key in before - _wanted:
        guard = _guards.get(key)
        if guard is not None:
            guard.armed = False


def _module_of(function: FunctionType) -> str:
    """The function that a module's code is while it runs has no module of its own name, but the module's globals."""
    name = function.__module__ or dict.get(function.__globals__, "__name__")
    return name if isinstance(name, str) else ""


def _may_be_named(function: FunctionType, named: dict[str, bool]) -> bool:
    """Whether a pattern names a function that is not the person's, or all of its module; `named` remembers modules."""
    module = _module_of(function) if _wide else ""
    if not module:
        return False
    if module not in named:
        named[module] = any(pattern("", module, "") or pattern("", module, "x") for pattern in _wide)
    if named[module]:
        return True
    path = real_path(function.__code__.co_filename)
    return any(pattern(path, module, function.__qualname__) for pattern in _wide)


@_exclusive
def arm(armed: Callable[[Guard], bool]) -> None:
    for key, guard in list(_guards.items()):
        guard.armed = key in _wanted and armed(guard)


def guard_for(key: Key) -> Guard | None:
    return _guards.get(key) if key in _wanted else None


def take_back() -> None:
    """Every function as it was; nothing of ours is left in it."""
    _patterns.clear()
    _wide.clear()
    for guard in _guards.values():
        guard.armed = False
    declared = dict(_declared)
    _declared.clear()
    try:
        reconcile(set())
    finally:
        _declared.update(declared)


def can_guard(key: Key) -> bool:
    """Whether the function's source is there to be compiled again."""
    try:
        return key in _sources.file(key[0]).by_key
    except (OSError, SyntaxError, ValueError) as error:
        _report.let_through(error)
        return False


def declare(function: Any, kind: str, name: str | None = None) -> Key | None:
    """Says that this function is a tool (or another kind): it is guarded whenever a session is attached."""
    key = _call_types.code_key(function)
    if key is None:
        return None
    real = (real_path(key[0]), key[1], key[2])
    _declared[real] = kind
    if name:
        _declared_names[real] = name
    guard = _guards.get(real)
    if guard is not None:
        guard.kind = kind
        guard.label = name or guard.spot.name
        guard.forget()
    return real


def let_go() -> None:
    """The program ends: of its frames only those are kept that run, and none of a generator or a coroutine that waits."""
    # Before it is asked what runs: another thread may begin a call meanwhile.
    known = [(guard, frame) for guard in list(_guards.values()) for frame in list(guard.live)]
    running: set[int] = set()
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        while at is not None:
            running.add(id(at))
            at = at.f_back
    for guard, frame in known:
        if id(frame) not in running:
            guard.live.pop(frame, None)


@_exclusive
def guard_now(function: FunctionType) -> None:
    """Guards one function that was just declared, without a look at all the others."""
    code = function.__code__
    key = _key(code)
    # A change of what is wanted may have found it a moment ago, and not come to arming yet: it is called next.
    if key not in _wanted:
        _make([key], code.co_filename, function.__module__ or "")
        _wanted.add(key)
        # It may have been made with its watched lines before it was declared.
        _rendered.pop((id(original(code)), _version), None)
    new = _render(code)
    if new is not code:
        function.__code__ = new
    guard = _guards.get(key)
    if guard is not None:
        guard.armed = True


def prepare_main(code: CodeType) -> None:
    """The main module's code is already on its way: put the guards into its constants in place."""
    _prepare_main(code)
    _in_place.write()


@_exclusive
def _prepare_main(code: CodeType) -> None:
    path = code.co_filename
    real = real_path(path)
    loaded.add(real)
    _begun[:] = [FunctionType(code, {"__name__": "__main__"})]
    found: list[Key] = []
    _collect(code, "__main__", "", found)
    if found:
        _make(found, path, "__main__")
        _wanted.update(found)
        _arm_new(found)
    if found or hooked_code is not None:
        _render_in_place(code)
    if on_code is not None:
        _report.guard(on_code, code)


def _render_in_place(code: CodeType) -> None:
    """For code that is on its way already. It is asked for while `_changing` is held, and written afterwards."""
    consts = code.co_consts
    _in_place.ask(consts, tuple([_render(c) if isinstance(c, CodeType) else c for c in consts]))


def modules_loaded() -> set[str]:
    """Real paths of the files of all modules that run or ran."""
    for module in list(sys.modules.values()):
        path = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(path, str):
            name = module.__dict__.get("__name__")
            if name == "__main__" and not main_started:
                continue
            loaded.add(real_path(path))
    return loaded


#: The main module, where it runs programs in a way that cannot be joined; empty.
hidden_by = ""
#: False until the first line of the main module runs, where we were there before it.
main_started = True
