"""Framework plugins: installed when the app imports the framework, never before."""

from __future__ import annotations

import os
import sys
from typing import Any

from .. import _report

#: Distribution, display name, lowest version with everything, what is missing below it.
_KNOWN = [
    ("langgraph", "LangGraph", (0, 6), "node stops (needs 0.6); tools still stop"),
    ("langchain-core", "LangChain", (0, 3), "tool stops (needs 0.3)"),
]


def install() -> None:
    """Registers the import hooks. Modules that are loaded already are treated at once."""
    from .._imports import on_import

    def hook(module: str, plugin: str, step: str) -> None:
        def arrived(*_: Any) -> None:
            import importlib

            _report.guard(getattr(importlib.import_module(f"{__name__}.{plugin}"), step))

        on_import(module, arrived)

    hook("langchain_core.tools.base", "_tools", "install")
    hook("langchain_core.tools.structured", "_tools", "install_structured")
    hook("langchain_core.tools.simple", "_tools", "install_simple")
    hook("langchain_core.language_models.chat_models", "langchain", "install")
    hook("langgraph.pregel._retry", "langgraph", "install_nodes")
    hook("langgraph.pregel._runner", "langgraph", "install_runner")
    hook("langgraph.pregel.main", "langgraph", "install_workflows")
    hook("langgraph.pregel", "langgraph", "check_version")
    hook("langgraph.graph.state", "langgraph", "install_graphs")
    hook("langgraph.graph._branch", "langgraph", "install_routes")


def let_go() -> None:
    """The program ends: nothing of it is kept alive. Of what is not loaded there is nothing."""
    for plugin, kept in (
        ("_patch", "_made"),
        ("_node_call", "newest"),
        ("langchain", "_functions"),
        ("_tools", "_adapters"),
    ):
        module = sys.modules.get(f"{__name__}.{plugin}")
        if module is not None:
            getattr(module, kept).clear()


def known() -> list[dict[str, Any]]:
    """The frameworks this environment has, for `hello`: told by the names of their metadata's folders, not imported."""
    found: list[dict[str, Any]] = []
    versions = _versions()
    for distribution, name, lowest, missing in _KNOWN:
        version = versions.get(distribution)
        if version is None:
            continue
        entry: dict[str, Any] = {"name": name, "version": version, "supported": True}
        if release(version) < lowest:
            entry.update(supported=False, message=f"{name} {version} is too old for {missing}")
        found.append(entry)
    return found


def _versions() -> dict[str, str]:
    """
    Of the known distributions: `langchain_core-1.2.3.dist-info` says it all. `importlib.metadata` would say the same, and takes longer to
    import than most processes of an app take to start.
    """
    wanted = {distribution for distribution, *_ in _KNOWN}
    found: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:  # An archive, or not there.
            continue
        for entry in names:
            if entry.endswith((".dist-info", ".egg-info")):
                name, _, version = entry[: -len(".dist-info")].partition("-")
                name = name.replace("_", "-").lower()
                if name in wanted and version and _is_whole(os.path.join(folder, entry)):
                    found.setdefault(name, version.partition("-")[0])
    return found


def _is_whole(metadata: str) -> bool:
    """An earlier version may have left an empty folder behind."""
    places = (metadata, os.path.join(metadata, "METADATA"), os.path.join(metadata, "PKG-INFO"))
    return any(map(os.path.isfile, places))


def release(version: str) -> tuple[int, ...]:
    """(0, 6) of `0.6.11rc1`."""
    numbers: list[int] = []
    for part in version.split(".")[:2]:
        digits = "".join(character for character in part if character.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)
