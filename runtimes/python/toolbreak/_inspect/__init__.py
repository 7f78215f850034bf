"""What a person sees of a held call, from the live objects. See README.md."""

from ._differences import diff, path_text, read_path
from ._display import call_text, one_line, short
from ._inspector import HoldView, Inspector
from ._trouble import UserError, error_sentence

__all__ = [
    "HoldView",
    "Inspector",
    "UserError",
    "call_text",
    "diff",
    "error_sentence",
    "one_line",
    "path_text",
    "read_path",
    "short",
]
