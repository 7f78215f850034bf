"""What the text of a file says about its functions, and whose a path is."""

from __future__ import annotations

import ast
import linecache
import os
import tokenize
import warnings
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from . import _report, _static
from ._calls import real_path

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk`, which imports something each time: a file of the app may have that name by then."""
    todo = deque([tree])
    while todo:
        node = todo.popleft()
        todo.extend(ast.iter_child_nodes(node))
        yield node


class Spot:
    """One `def` in a file. Lines count from 1."""

    def __init__(self, path: str, qualname: str, node: FunctionNode) -> None:
        self.path = path
        self.name = node.name
        self.qualname = qualname
        #: First decorator, or the `def` where there is none: the code object's first line.
        self.first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        #: Line of the `def`.
        self.line = node.lineno
        body = node.body[0]
        above = min(body.lineno, *(d.lineno for d in getattr(body, "decorator_list", []) or [body])) - 1
        #: Last line before the body.
        self.head = max(node.lineno, above)
        self.end = node.end_lineno or node.lineno
        self.node = node
        self.tool = any(_is_tool(d) for d in node.decorator_list)

    @property
    def key(self) -> tuple[str, int, str]:
        return (self.path, self.first, self.name)


class Quietly:
    """
    While a file is read and compiled again: what it has to warn about was said when the app did, and must not be raised now under `-W error`. Nobody is
    told of the filter: what Python says once it would say again.
    """

    def __init__(self, path: str) -> None:
        # For the name of the module `warnings` takes the path.
        self._name = path[:-3] if path.endswith(".py") else path
        self._filter: Any = ("ignore", None, Warning, self, 0)

    def match(self, name: str) -> bool:
        """As the expression for the module's name, in whose place in the filter this is."""
        return name == self._name

    def __enter__(self) -> None:
        warnings.filters.insert(0, self._filter)  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        try:
            warnings.filters.remove(self._filter)  # type: ignore[attr-defined]
        except ValueError:
            pass


class File:
    """A parsed source file. Raises OSError, SyntaxError, ValueError or UnicodeDecodeError."""

    def __init__(self, path: str) -> None:
        self.path = path
        with tokenize.open(path) as handle:
            self.text = handle.read()
        self.modified = os.stat(path).st_mtime
        with Quietly(path):
            self.tree = ast.parse(self.text, path)
        self.spots: list[Spot] = []
        #: Every `class` statement under its qualified name, in the order of the file.
        self.classes: list[tuple[str, ast.ClassDef]] = []
        #: What `_line_places` knows of it.
        self.lines: Any = None
        self.last = self.text.count("\n") + 1
        self._walk(self.tree, "")
        self.by_key = {spot.key: spot for spot in self.spots}

    def _walk(self, parent: ast.AST, prefix: str) -> None:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.spots.append(Spot(self.path, prefix + node.name, node))
                self._walk(node, f"{prefix}{node.name}.<locals>.")
            elif isinstance(node, ast.ClassDef):
                self.classes.append((prefix + node.name, node))
                self._walk(node, f"{prefix}{node.name}.")
            else:
                self._walk(node, prefix)

    def at(self, line: int) -> Spot | None:
        """The function whose decorators or `def` this line is on."""
        for spot in self.spots:
            if spot.first <= line <= spot.head:
                return spot
        return None

    def around(self, line: int) -> Spot | None:
        """The innermost function whose body holds this line."""
        best: Spot | None = None
        for spot in self.spots:
            if spot.head < line <= spot.end and (best is None or spot.first >= best.first):
                best = spot
        return best


def _is_tool(decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (isinstance(node, ast.Name) and node.id == "tool") or (
        isinstance(node, ast.Attribute) and node.attr == "tool"
    )


_files: dict[str, tuple[float, File | Exception]] = {}


def file(path: str) -> File:
    """The parsed file, read again when it changed. Raises what reading or parsing raises."""
    try:
        modified = os.stat(path).st_mtime
    except OSError as error:
        _report.let_through(error)
        modified = -1.0
    known = _files.get(path)
    if known is None or known[0] != modified:
        try:
            known = (modified, File(path))
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            _report.let_through(error)
            known = (modified, error)
        _files[path] = known
    if isinstance(known[1], Exception):
        raise known[1]
    return known[1]


def def_line(code: CodeType) -> int:
    """Line of the `def` of this code; its first line is a decorator's, where it has any. Never raises."""
    first = code.co_firstlineno
    path = real_path(code.co_filename)
    if not linecache.getline(path, first).lstrip().startswith("@"):
        return first
    try:
        spot = file(path).by_key.get((path, first, code.co_name))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        _report.let_through(error)
        return first
    return spot.line if spot is not None else first


_OUR_FOLDER = os.path.dirname(os.path.realpath(__file__)) + os.sep
_user_paths: dict[str, bool] = {}


def is_ours(path: str) -> bool:
    return path.startswith(_OUR_FOLDER) or real_path(path).startswith(_OUR_FOLDER)


_LIBRARY = os.path.realpath(os.path.dirname(os.__file__)) + os.sep
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def is_library(path: str) -> bool:
    """Whether the file is of the standard library. A path that is not real may be of it all the same."""
    return (path.startswith(_LIBRARY) or path.startswith("<frozen ")) and not any(each in path for each in _INSTALLED)


def is_for_us(frame: Any) -> bool:
    """Whether a function of the standard library runs because we use it: nothing but others of that library stand between it and us."""
    while frame is not None:
        path = frame.f_code.co_filename
        if not (is_library(path) or is_library(real_path(path))):
            return is_ours(path)
        if frame.f_back is None and frame.f_code.co_name == "_bootstrap":
            target = _static.read_field(frame.f_locals.get("self"), "_target")
            plain = target.__func__ if type(target) is MethodType else target
            return type(plain) is FunctionType and is_ours(plain.__code__.co_filename)
        frame = frame.f_back
    return False


def is_user(path: str | None) -> bool:
    """Whether a person wrote this file for this app: not the standard library, not an installed package, not us."""
    if not path or path.startswith("<"):
        return False
    known = _user_paths.get(path)
    if known is None:
        known = _user_paths[path] = _look(real_path(path))
    return known


def _look(path: str) -> bool:
    if path.startswith(_OUR_FOLDER):
        return False
    parts = path.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return False
    if path.startswith(_LIBRARY):
        return False
    return not any("__pycache__" == part for part in parts) and os.path.exists(path)
