"""The event loop of asyncio that runs in this thread, where there is one. An app that does not use asyncio is not made to import it: that takes long."""

from __future__ import annotations

import sys
from typing import Any


def running() -> Any:
    """The loop, or None. Where it is one, `import asyncio` costs nothing."""
    events = sys.modules.get("asyncio.events")
    # Another thread may be importing it just now.
    find = getattr(events, "_get_running_loop", None)
    return find() if find is not None else None
