"""A function that is declared while a debugger changes what is wanted is watched from its first call on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolbreak import _calls, _guards

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
