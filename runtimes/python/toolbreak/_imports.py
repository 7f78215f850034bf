"""Post-import hooks, and the way of module code before it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import _report

_callbacks: dict[str, list[Callable[..., Any]]] = {}
#: Called after each import with (module name, path or None).
after_import: Callable[[str, str | None], None] | None = None
#: Called with (code, path, module name) before module code runs; answers the code to run.
prepare_code: Callable[[Any, str, str], Any] | None = None


def on_import(name: str, callback: Callable[..., Any]) -> None:
    """Calls `callback(module)` once the module has run; at once if it has already."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _report.guard(callback, module)
        return
    _callbacks.setdefault(name, []).append(callback)


def _done(name: str, path: str | None) -> None:
    for callback in _callbacks.pop(name, ()):
        _report.guard(callback, sys.modules.get(name))
    if after_import is not None:
        _report.guard(after_import, name, path)


class _Finder:
    """First in `sys.meta_path`; finds nothing itself, only looks at what those behind it found."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = None
        finders = list(sys.meta_path)
        # Those before it were asked already.
        behind = next((place + 1 for place, finder in enumerate(finders) if finder is self), 0)
        for finder in finders[behind:]:
            find = getattr(finder, "find_spec", None)
            if find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                _report.guard(_observe, spec)
                break
        return spec


def _hidden(function: Any) -> Any:
    """Import errors leave the import system's own frames out of a traceback; ours go with them."""
    function.__code__ = function.__code__.replace(
        co_filename="<frozen importlib._bootstrap_external>", co_name="_call_with_frames_removed"
    )
    return function


def _observe(spec: Any) -> None:
    loader = spec.loader
    if isinstance(loader, type) and spec.name in _callbacks:
        spec.loader = _Frozen(loader)
        return
    if loader is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
        return
    values = getattr(loader, "__dict__", None)
    if values is None or "exec_module" in values:
        return
    shared = loader in sys.meta_path
    original = loader.exec_module
    original_code = None if shared else getattr(loader, "get_code", None)

    def exec_module(module: Any) -> None:
        if not shared:
            values.pop("exec_module", None)
        try:
            original(module)
        finally:
            if not shared:
                values.pop("get_code", None)
        _done(module.__name__, getattr(module, "__file__", None))

    def get_code(name: str) -> Any:
        code = original_code(name)  # type: ignore[misc]
        if prepare_code is not None and code is not None:
            prepared = _report.guard(prepare_code, code, spec.origin or code.co_filename, spec.name)
            if prepared is not None:
                code = prepared
        return code

    loader.exec_module = _hidden(exec_module)
    if original_code is not None:
        loader.get_code = _hidden(get_code)


class _Frozen:
    """Stands in for the loader of frozen modules, which is a class that all of them share, until the module runs."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _done(module.__name__, None)


_Frozen.exec_module = _hidden(_Frozen.exec_module)
_finder = _Finder()


def install() -> None:
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    # What was imported while the finder was away.
    for name in list(_callbacks):
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            for callback in _callbacks.pop(name, ()):
                _report.guard(callback, module)


def remove() -> None:
    """Nothing is to be known of imports any more, until `install`. Those that are under way go on."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
