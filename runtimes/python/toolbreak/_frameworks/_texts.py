"""Texts a person can open beside the code: prompts, tool schemas, workflow structure."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from .. import _report


def put(key: str, name: str, mime: str, text: str | Callable[[], str]) -> None:
    """Offers a text; a callable is asked when a person opens it. The same key replaces."""
    try:
        from .. import _session

        sources = getattr(_session, "sources", None)
        if sources is not None:
            sources.put(key, name, mime, text)
    except ImportError:
        return
    except Exception as error:
        _report.failure(error)


def put_weak(key: str, name: str, mime: str, subject: Any, render: Callable[[Any], str]) -> None:
    """Offers `render(subject)` without keeping the subject alive."""
    reference = weakref.ref(subject)

    def text() -> str:
        alive = reference()
        return render(alive) if alive is not None else "It is no longer in use."

    put(key, name, mime, text)
