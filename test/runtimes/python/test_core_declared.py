"""A function that is declared is watched from its first call on, whatever the debugger wants of it meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_adapter import dot
from toolbreak import _call_types, _calls, _guards, _sources
from toolbreak._breakpoints import Dot

pytestmark = pytest.mark.essential


def test_a_change_between_the_declaration_and_the_guard_disarms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_calls, "attached", True)
    file = tmp_path / "tools.py"
    file.write_text("def work(value):\n    return value + 1\n")
    space: dict[str, Any] = {"__name__": "tools"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    work = space["work"]
    key = _guards.declare(work, "tool")
    assert key is not None
    try:
        # The control thread comes between, and has not armed yet.
        _guards.reconcile(set())
        guard = _guards.guard_for(key)
        assert guard is not None
        assert not guard.armed
        _guards.guard_now(work)
        assert guard.armed
        assert work.__code__ is guard.code
        assert work(1) == 2
    finally:
        _guards.take_back()
        _guards._declared.pop(key, None)


def test_a_declared_tool_is_a_call_also_where_a_line_of_it_is_all_that_is_watched(scene: Any) -> None:
    path = scene.write(
        "main.py",
        """
        import toolbreak

        @toolbreak.tool
        def add(a, b):
            total = a + b
            return total

        print(add(2, 3))
        """,
    )
    adapter = scene.adapter(breakpoints=[dot(1, path, "total = a")])
    app = scene.run(adapter, "main.py")
    process, hold = adapter.held()
    assert [(frame["name"], frame["kind"]) for frame in hold["frames"]] == [
        ("add", "source"),
        ("add(a=2, b=3)", "tool"),
        ("<module>", "source"),
    ]
    process.release(hold)
    assert app.finish() == (0, "5\n", "")


def test_a_method_is_shown_with_its_class() -> None:
    cases = json.loads((Path(__file__).parents[3] / "fixtures/shown_names.json").read_text())
    for kind, name, qualname, module, shown in cases:
        assert _call_types.Function(0, kind, name, qualname, module, None, 0, 0).shown == shown


def test_a_breakpoint_may_have_a_method_as_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = _call_types.Function(0, "function", "run", "make.<locals>.Agent.run", "shop", None, 0, 0)
    dot = Dot({"id": 1, "target": {"type": "function", "glob": "Agent.run"}})
    assert inside.shown == "Agent.run" and dot.fits(inside)
    assert not dot.fits(_call_types.Function(0, "function", "run", "Tool.run", "shop", None, 0, 0))
    monkeypatch.setattr(_sources, "is_user", lambda path: True)
    before = list(_guards._patterns)
    try:
        _guards.compile_patterns([], [dot.glob])
        (wants,) = _guards._patterns
        assert wants("shop.py", "shop", inside.qualname) and not wants("shop.py", "shop", "Tool.run")
    finally:
        _guards._patterns[:] = before
