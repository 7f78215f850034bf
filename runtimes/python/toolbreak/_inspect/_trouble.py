"""Sentences for the person."""

from __future__ import annotations

import sys
from typing import Any

from .. import _errors, _static


class UserError(Exception):
    """Something the person asked for cannot be done; the text says why. Answered with `user: true`."""


def error_sentence(error: BaseException) -> str:
    """`KeyError: 'total'`. The exception's own text may be used here: it was raised by what the person asked for."""
    name = _static.short_name(type(error)).rpartition(".")[2]
    try:
        text = str(error)
    except BaseException:
        text = _errors.message_of(error)
    return f"{name}: {text}" if text else name


_WANTED = {
    "int": "an integer",
    "float": "a number",
    "decimal": "a decimal number",
    "string": "a string",
    "bool": "true or false",
    "list": "a list",
    "dict": "a dict",
    "tuple": "a tuple",
    "set": "a set",
    "datetime": "a date and time",
    "date": "a date",
    "model": "an object of its model",
    "literal": "one of the allowed values",
    "enum": "one of the allowed values",
    "none": "None",
    "bytes": "bytes",
    "uuid": "a UUID",
}


def refusal(name: str, error: BaseException, owner: str) -> str:
    """`order_id must be an integer (the tool's own schema said: Input should be a valid integer)`."""
    problems = pydantic_problems(error)
    if problems:
        first = problems[0]
        kind = str(first.get("type", ""))
        wanted = (
            _WANTED.get(kind.partition("_")[0])
            if kind.endswith(("_type", "_parsing", "_error", "_from_float")) or kind in _WANTED
            else None
        )
        said = str(first.get("msg", ""))
        start = f"{name} must be {wanted}" if wanted else f"{name} was refused"
        return f"{start} (the {owner}'s own schema said: {said})"
    text = error_sentence(error) if not isinstance(error, ValueError) else str(error)
    return text if name in text else f"{name} was refused: {text}"


def pydantic_problems(error: Any) -> list[dict[str, Any]]:
    core = sys.modules.get("pydantic_core")
    kind = getattr(core, "ValidationError", None)
    if kind is not None and isinstance(error, kind):
        try:
            return list(error.errors(include_url=False, include_context=False, include_input=False))
        except Exception:
            return []
    return []
