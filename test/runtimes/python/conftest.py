"""Fixtures for tests of the runtime: a debugger's side and real apps."""

from __future__ import annotations

import importlib.util
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[2] / "runtimes" / "python"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from fake_adapter import Adapter, App, configuration  # noqa: E402

#: Need packages that only the environment of the whole suite has; a run of some markers is one of the others.
WHOLE_SUITE = {
    "test_compiled_properties.py",
    "test_large_properties.py",
    "test_masking_properties.py",
    "test_places_properties.py",
    "test_states_properties.py",
    "test_values_arrays.py",
    "test_values_kinds.py",
    "test_values_properties.py",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("markexpr") and collection_path.name in WHOLE_SUITE else None


if importlib.util.find_spec("hypothesis"):
    from hypothesis import settings

    # The same values in every run; other ones with TOOLBREAK_FUZZ_SEED=random.
    settings.register_profile("same", derandomize=True, database=None)
    settings.register_profile("other", derandomize=False, database=None, print_blob=True)
    settings.load_profile("same" if os.environ.get("TOOLBREAK_FUZZ_SEED") != "random" else "other")


class Scene:
    """A folder with an app, a debugger that waits, and the app's process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "app"
        self.folder.mkdir()
        self._state = folder / "state"
        self._state.mkdir()
        self._apps: list[App] = []
        self._adapters: list[Adapter] = []

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    def adapter(self, silent: bool = False, **changes: Any) -> Adapter:
        made = Adapter(self._state, configuration(**changes), silent)
        self._adapters.append(made)
        return made

    def run(self, adapter: Adapter | None, *command: Any, env: dict[str, str] | None = None) -> App:
        app = App(adapter, [str(part) for part in command], self.folder, env)
        self._apps.append(app)
        return app

    def close(self) -> None:
        for app in self._apps:
            app.kill()
        for adapter in self._adapters:
            adapter.close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def write(scene: Scene) -> Callable[[str, str], Path]:
    return scene.write
