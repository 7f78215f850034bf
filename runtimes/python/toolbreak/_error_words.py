"""What exceptions of the standard library say that keep it in fields: the words of their own `__str__`, which is not run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from . import _standard


def field_message(
    names: Collection[str], fields: dict[str, Any] | None, message_of: Callable[[Any], str]
) -> str | None:
    """`names`: of its class and its bases. Nothing for all others, and where a field is not what it should be. `message_of` is for an error in a field."""
    if fields:
        for name, words in _WORDS.items():
            if name in names:
                return words(fields, message_of)
    return None


def _http(fields: dict[str, Any], _: Callable[[Any], str]) -> str | None:
    code, text = fields.get("code"), fields.get("msg")
    return f"HTTP Error {code}: {text}" if type(code) is int and type(text) is str else None


def _url(fields: dict[str, Any], message_of: Callable[[Any], str]) -> str | None:
    reason = fields.get("reason")
    if isinstance(reason, OSError):
        reason = message_of(reason)
    return f"<urlopen error {reason}>" if type(reason) is str else None


def _process(fields: dict[str, Any], _: Callable[[Any], str]) -> str | None:
    command, code = _command(fields.get("cmd")), fields.get("returncode")
    if command is None or type(code) is not int:
        return None
    if code >= 0:
        return f"Command '{command}' returned non-zero exit status {code}."
    signal = _standard.module("signal")  # An app that starts no processes may do without it.

    try:
        return f"Command '{command}' died with {signal.Signals(-code).name}."
    except ValueError:
        return f"Command '{command}' died with unknown signal {-code}."


def _timeout(fields: dict[str, Any], _: Callable[[Any], str]) -> str | None:
    command, seconds = _command(fields.get("cmd")), fields.get("timeout")
    if command is None or type(seconds) not in (int, float):
        return None
    return f"Command '{command}' timed out after {seconds} seconds"


def _command(given: Any) -> str | None:
    """Of a list its program alone: an option's value may be a secret, and all of it stands among the arguments."""
    if type(given) is str:
        return given
    if type(given) not in (list, tuple) or not given or type(given[0]) is not str:
        return None
    return given[0] if len(given) == 1 else f"{given[0]} …"


def _argument(fields: dict[str, Any], _: Callable[[Any], str]) -> str | None:
    name, text = fields.get("argument_name"), fields.get("message")
    if type(text) is not str:
        return None
    return f"argument {name}: {text}" if type(name) is str else text


def _said(fields: dict[str, Any], _: Callable[[Any], str]) -> str | None:
    text = fields.get("message")
    return text if type(text) is str else None


#: A class stands before its bases.
_WORDS = {
    "urllib.error.HTTPError": _http,
    "urllib.error.URLError": _url,
    "subprocess.CalledProcessError": _process,
    "subprocess.TimeoutExpired": _timeout,
    "argparse.ArgumentError": _argument,
    "configparser.Error": _said,
}
