"""Exceptions as data: type, message, stack, causes and fields, without asking the exception for its text."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _report, _static
from ._error_words import field_message
from ._masking import is_login, is_login_name, is_no_secret
from ._secrets import MASK

if TYPE_CHECKING:
    from ._walk import Walk

Entry = tuple[str, int, str]
TAG = ...
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MOST_FRAMES = 60
_NAME = "co_qualname" if sys.version_info >= (3, 11) else "co_name"
#: So many entries of a traceback are stepped over at once.
_STEP = 20
_step_over = operator.attrgetter(".".join(["tb_next"] * _STEP))
#: Of all containers in a message.
_MOST_ITEMS = 200
_LEAVES = (str, int, float, bool, type(None), bytes)


def encode_error(walk: Walk, error: Any, shape: _static.Shape) -> tuple[Any, ...]:
    message = walk.masking.text(message_of(error, shape))
    if len(message) > 20_000:
        message = message[:20_000] + f"… ({len(message)} characters)"
    walk.left -= len(message) * 4
    stack = stack_of(error)
    walk.left -= len(stack) * 60
    way, cause = cause_of(error)
    encoded_cause = walk.encode(cause) if cause is not None else None
    fields = dict(shape.fields(error) or {})
    group = group_members(error, shape)
    if group is not None:
        fields["exceptions"] = group
    args = _static.get_args(error)
    if "exceptiongroup.BaseExceptionGroup" in shape.base_names:
        group = fields.get("_exceptions")  # As that package has them, for Python 3.10.
    # A group's arguments are its message and its members: with these in both, groups within groups would double at each level.
    is_said = type(args) is tuple and (
        len(args) == 0 or type(args[0]) is str and (len(args) == 1 or (len(args) == 2 and _are_members(args[1], group)))
    )
    if type(args) is tuple and not is_said:
        fields.setdefault("args", args)
    encoded = (TAG, "error", shape.name, message, stack, encoded_cause, walk._fields(fields))
    return (*encoded, True) if encoded_cause is not None and way == "context" else encoded


def _are_members(items: Any, group: Any) -> bool:
    """Whether these are a group's own members, one by one."""
    if type(group) is not tuple or type(items) not in (list, tuple) or len(items) != len(group):
        return False
    return all(item is member for item, member in zip(items, group))


def group_members(error: Any, shape: _static.Shape) -> Any:
    if "builtins.BaseExceptionGroup" in shape.base_names:
        import builtins

        return builtins.__dict__["BaseExceptionGroup"].__dict__["exceptions"].__get__(error)
    return None


def cause_of(error: Any) -> tuple[str, Any]:
    """What it was raised from, called "cause", or else what was handled meanwhile, called "context"; None where there is neither."""
    cause = _static.get_cause(error)
    if cause is None and not _static.get_suppress(error):
        return "context", _static.get_context(error)
    return "cause", cause


def stack_of(error: Any) -> list[Entry]:
    """(path, line, function), outermost first, without our own lines; of a very deep stack the outermost and the innermost ones."""
    # An error is asked in each call that it leaves. What is left out of a deep stack is stepped over, which takes a thirtieth of reading it; nothing
    # is kept from one call to the next, since the app may have put its traceback together anew.
    found, rest = _entries(_static.get_traceback(error))
    begins: list[Any] = []
    try:
        while rest is not None:
            begins.append(rest)
            rest = _step_over(rest)
    except AttributeError:
        pass  # It ends within this step.
    inner: list[Entry] = []
    while begins and len(inner) < _MOST_FRAMES:
        inner[:0] = _entries(begins.pop())[0]
    while begins and not found:
        found = _entries(begins.pop(0))[0]
    found += inner
    return found if len(found) <= _MOST_FRAMES else [found[0], *found[1 - _MOST_FRAMES :]]


def _entries(traceback: Any) -> tuple[list[Entry], Any]:
    """Those of one step, and what comes behind it."""
    found: list[Entry] = []
    left = _STEP
    last: Any = None
    is_ours = False
    path = name = ""
    while traceback is not None and left:
        left -= 1
        code = traceback.tb_frame.f_code
        # A deep stack mostly consists of one function.
        if code is not last:
            last = code
            path = code.co_filename
            is_ours = path.startswith(_HERE)
            name = getattr(code, _NAME)
        if not is_ours:
            found.append((path, traceback.tb_lineno or 0, name))
        traceback = traceback.tb_next
    return found, traceback


def message_of(error: Any, shape: _static.Shape | None = None, text_of: Callable[[Any], str] | None = None) -> str:
    """What the exception says, from its arguments; its own `__str__` is not run. `text_of` is for arguments that are no text, else it is `leaf_text`."""
    text_of = text_of or leaf_text
    if shape is None:
        shape = _static.shape_of(type(error))
    if "pydantic_core._pydantic_core.ValidationError" in shape.base_names:
        return validation_message(error)
    said = field_message(shape.base_names, shape.fields(error), message_of)
    if said is not None:
        return said
    if OSError in shape.bases:
        own = OSError.__dict__
        number, text, name = (own[field].__get__(error) for field in ("errno", "strerror", "filename"))
        if type(number) is int and type(text) is str:
            return f"[Errno {number}] {text}" + (f": {name!r}" if type(name) is str else "")
    for coding in (UnicodeDecodeError, UnicodeEncodeError):
        if coding in shape.bases:
            text = coding_message(error, coding)
            if text is not None:
                return text
    args = _static.get_args(error)
    if type(args) is not tuple or not args:
        return ""
    members = group_members(error, shape)
    if type(members) is tuple and type(args[0]) is str:
        return f"{args[0]} ({len(members)} sub-exception{'' if len(members) == 1 else 's'})"
    if len(args) == 1:
        only = args[0]
        if type(only) is str:
            return repr(only) if KeyError in shape.bases else only
        return text_of(only)
    if SyntaxError in shape.bases and type(args[0]) is str:
        return args[0]
    return "(" + ", ".join(text_of(item) for item in args) + ")"


def coding_message(error: Any, coding: type) -> str | None:
    """What Python says of bytes or characters that an encoding does not know; None where a field is of a class of the app's, whose code that would run."""
    names = ("encoding", "reason", "object")
    try:
        kinds = [type(coding.__dict__[name].__get__(error)) for name in names]
    except (AttributeError, TypeError):
        return None  # Made without what belongs to it.
    if kinds[:2] != [str, str] or kinds[2] not in (str, bytes):
        return None
    return coding.__dict__["__str__"](error)  # type: ignore[no-any-return]


def leaf_text(value: Any) -> str:
    for leaf in _LEAVES:
        if type(value) is leaf:
            return _static.int_text(value) if type(value) is int else repr(value)
    return f"<{_static.type_name(type(value))}>"


class PlainText:
    """The same of what plain containers hold, as Python writes it, masked, up to a number of items in all."""

    def __init__(self, masking: Any) -> None:
        self._masking = masking
        self._left = _MOST_ITEMS

    def __call__(self, value: Any, levels: int = 4) -> str:
        kind = type(value)
        if kind not in (dict, list, tuple, set):
            return leaf_text(value)
        if not value:
            return repr(value)
        self._left -= len(value)
        if levels == 0 or self._left < 0:
            return leaf_text(value)
        if kind is dict:
            return "{" + ", ".join(self._pairs(value, levels - 1)) + "}"
        open_, close = "[]" if kind is list else "()" if kind is tuple else "{}"
        inner = ", ".join([self(item, levels - 1) for item in list(value)])
        return f"{open_}{inner}{',' if kind is tuple and len(value) == 1 else ''}{close}"

    def _pairs(self, value: dict[Any, Any], levels: int) -> list[str]:
        # A key of the app's own class would be asked for its hash.
        row = dict(value) if all(type(key) is str for key in value) else None
        if row is not None:
            self._masking.row(row)
        said = []
        for key, item in list(value.items()):
            is_masked = row is not None and row[key] is not item
            if type(key) is str and not is_no_secret(item):
                is_masked = is_masked or self._masking.is_secret_key(key) or (is_login_name(key) and is_login(item))
            said.append(f"{leaf_text(key)}: {MASK if is_masked else self(item, levels)}")
        return said


def validation_message(invalid: Any) -> str:
    """Pydantic's own list, asked without inputs and contexts: it then consists of texts of Pydantic alone."""
    core = sys.modules.get("pydantic_core")
    try:
        kind = core.ValidationError  # type: ignore[union-attr]
        problems = kind.errors(invalid, include_url=False, include_context=False, include_input=False)
        return "; ".join(
            (".".join(str(part) for part in problem["loc"]) + ": " if problem["loc"] else "") + problem["msg"]
            for problem in problems
        )
    except Exception as error:
        _report.let_through(error)
        return "the value does not fit the schema"
