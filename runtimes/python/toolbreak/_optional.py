"""What `_compiled` does quicker than Python code, where it was built for this system; None where it was not, and Python code does the same.

`TOOLBREAK_COMPILED=0` in the app's environment leaves it aside. Its source: `runtimes/python/native`.
"""

from __future__ import annotations

import os
from typing import Any

from . import _report

#: All that a value consists of, kept and compared.
Snapshot: Any = None
#: What a configuration says of values.
Rules: Any = None
#: Stands for a value that is written as the bytes it was made of.
Same: Any = None
#: The part of a segment that appends.
Cursor: Any = None

if os.environ.get("TOOLBREAK_COMPILED", "") != "0":
    try:
        from . import _compiled  # type: ignore[attr-defined]

        Snapshot, Rules, Same, Cursor = _compiled.Snapshot, _compiled.Rules, _compiled.Same, _compiled.Cursor
    except Exception as error:  # Not built, or for another system.
        _report.let_through(error)
