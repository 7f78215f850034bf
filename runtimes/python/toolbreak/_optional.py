"""What `_compiled` does quicker than Python code, where it was built for this system; None where it was not, and Python code does the same.

`TOOLBREAK_COMPILED=0` in the app's environment leaves it aside. Its source: `runtimes/python/native`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _report
from ._key import KEY

#: All that a value consists of, kept and compared.
Snapshot: Any = None
#: What a configuration says of values.
Rules: Any = None
#: Stands for a value that is written as the bytes it was made of.
Same: Any = None
#: The part of a segment that appends.
Cursor: Any = None

# Free-threaded Pythons find such files too, and lay out their objects in another way.
_IS_FOR = sys.implementation.name == "cpython" and "t" not in getattr(sys, "abiflags", "")

if _IS_FOR and os.environ.get("TOOLBREAK_COMPILED", "") != "0":
    try:
        from . import _compiled  # type: ignore[attr-defined]

        # One that was built for an earlier state of the rules for secrets may let through what they mask now.
        if _compiled.KEY != KEY:
            raise ImportError("built from other sources")
        Snapshot, Rules, Same, Cursor = _compiled.Snapshot, _compiled.Rules, _compiled.Same, _compiled.Cursor
    except Exception as error:  # Not built, for another system, or of another state of the sources.
        _report.let_through(error)
