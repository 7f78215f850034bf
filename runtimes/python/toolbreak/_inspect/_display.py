"""A value on one line, without running its code; and, where a person looks, with its own `__repr__` under a time limit."""

from __future__ import annotations

import collections
import sys
import types
from itertools import islice
from typing import Any

from .. import _errors, _static
from .._arrays import array_shape, scalar_item, scalar_text, time_text
from .._kinds import is_text_like, opaque_reason, opaque_text

LINE = 200
#: Texts longer than this are cut in the Variables pane; copying gives all of it.
TEXT = 2000
_MESSAGE = "langchain_core.messages.base.BaseMessage"
_SIMPLE = frozenset(id(kind) for kind in (int, float, bool, complex, type(None), type(...), bytes, bytearray, str))


def short(value: Any, limit: int = 40) -> str:
    """For a frame's name: cut in the middle."""
    text = one_line(value, limit * 4)
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return text[: limit - 1 - half] + "…" + text[-half:]


def call_text(name: str, args: dict[str, Any], limit: int = 80) -> str:
    """`lookup_order(order_id=7, region='eu')`."""
    parts: list[str] = []
    room = limit
    for key, value in islice(list(args.items()), 12):
        part = f"{key}={short(value, 30)}"
        room -= len(part) + 2
        if parts and room < 0:
            parts.append("…")
            break
        parts.append(part)
    return f"{name}({', '.join(parts)})"


def text_repr(value: str, limit: int = TEXT) -> str:
    """A string as Python writes it, cut at the end with its whole length."""
    if len(value) <= limit:
        return repr(value)
    return f"{value[:limit]!r}… ({len(value)} characters)"


def type_text(value: Any) -> str:
    """`int`, `Order`: the short name; the qualified one stands in the value where needed."""
    return _static.short_name(type(value)).rpartition(".")[2]


def is_message(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return (
            type(value.get("role")) is str and "content" in value and len(value) <= 12
            if _static.all_strings(value)
            else False
        )
    return _MESSAGE in _static.shape_of(kind).base_names if id(kind) not in _SIMPLE else False


def message_text(value: Any, limit: int = LINE) -> str:
    """`human: please refund order 7`, `ai: → lookup_order, check_stock`, `tool refund (error): ...`."""
    if type(value) is dict:
        fields: dict[str, Any] = value
        role = value["role"]
    else:
        fields = _static.shape_of(type(value)).fields(value) or {}
        role = fields.get("type")
        if role == "chat" and type(fields.get("role")) is str and fields["role"]:
            role = fields["role"]
        if type(role) is not str:
            role = type_text(value)
    calls = _call_names(fields.get("tool_calls"))
    invalid = _call_names(fields.get("invalid_tool_calls"))
    parts: list[str] = []
    more = fields.get("additional_kwargs")
    if type(more) is dict and type(more.get("reasoning_content")) is str and more["reasoning_content"]:
        parts.append("[reasoning]")
    text = content_text(fields.get("content"), role in ("ai", "assistant"), bool(calls or invalid))
    if role == "remove" and not text and type(fields.get("id")) is str:
        text = "all messages" if fields["id"] == "__remove_all__" else f"message {fields['id']}"
    if text:
        parts.append(" ".join(text.split()) if len(text) < 5000 else " ".join(text[:5000].split()))
    if calls or invalid:
        parts.append("→ " + ", ".join([*calls, *(f"{name} (invalid)" for name in invalid)]))
    answers = type(fields.get("tool_call_id")) is str and fields["tool_call_id"] != ""
    if answers and fields.get("artifact") is not None:
        parts.append("(with an artifact)")
    title = role
    if (answers or role == "function") and type(fields.get("name")) is str and fields["name"]:
        title += f" {fields['name']}"
    if answers and fields.get("status") == "error":
        title += " (error)"
    line = f"{title}: {' '.join(parts)}"
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _call_names(calls: Any) -> list[str]:
    return [call_name(call) for call in calls] if type(calls) in (list, tuple) else []


def call_name(call: Any) -> str:
    if type(call) is dict:
        name = call.get("name")
        if name is None and type(call.get("function")) is dict:
            name = call["function"].get("name")
        return name if type(name) is str else "?"
    name = _static.read_field(call, "name")
    return name if type(name) is str else "?"


#: Blocks of a message's content, as people call them.
_BLOCKS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio_url": "audio",
    "input_file": "file",
}
_CALLS = frozenset(("tool_use", "tool_call", "function_call", "input_json_delta"))


def content_text(content: Any, goes_on: bool = False, asks_tools: bool = False) -> str:
    """The text of a message's content: a string, or blocks of which some are text. What a model says goes on in its next block."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return ""
    result = ""
    was_text = False
    for block in content[:50]:
        text = block.get("text") if type(block) is dict else block
        is_text = type(text) is str
        if not is_text:
            text = _block_text(block)
        if not text or (not is_text and asks_tools and type(block) is dict and block.get("type") in _CALLS):
            continue
        result += text if not result or (goes_on and is_text and was_text) else f" {text}"
        was_text = is_text
    return result


def _block_text(block: Any) -> str:
    """`[image]`, `[file report.pdf]`."""
    if type(block) is not dict or type(block.get("type")) is not str:
        return "[block]"
    fields: dict[str, Any] = block
    inner: Any = fields.get("file")
    parts: list[dict[str, Any]] = [fields, inner] if type(inner) is dict else [fields]
    names = [*(part.get(key) for part in parts for key in ("filename", "title")), _file_of(fields.get("url"))]
    name = next((name for name in names if type(name) is str and name), "")
    return f"[{_BLOCKS.get(block['type'], block['type'])}{name and ' '}{name}]"


def _file_of(url: Any) -> str:
    if type(url) is not str or url.startswith("data:"):
        return ""
    return url.partition("#")[0].partition("?")[0].rpartition("/")[2]


_MOST_ARGUMENTS = 100
#: Of a container or an object, on a line.
_MOST_ITEMS = 20


def error_message(error: Any, shape: _static.Shape) -> str:
    """What the exception says to the person who looks at it: with its arguments on a line each, where the recorded sentence names their types."""
    message = _errors.message_of(error, shape)
    if message == "<object>":
        return ""  # A bare object, such as one that a task is cancelled with, says nothing.
    args = _static.get_args(error)
    if type(args) is not tuple or not 0 < len(args) <= _MOST_ARGUMENTS:
        return message
    said = [_errors.leaf_text(item) for item in args]
    if message != (said[0] if len(said) == 1 else f"({', '.join(said)})"):
        return message  # It is made in another way.
    texts = [
        one_line(item, depth=1) if text == f"<{_static.type_name(type(item))}>" else text
        for item, text in zip(args, said)
    ]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def one_line(value: Any, limit: int = LINE, depth: int = 0) -> str:
    """The value on one line. Runs no code of the app: an object without a readable form is `Order(id=7, …)`."""
    kind = type(value)
    if kind is str:
        return text_repr(value, limit)
    if id(kind) in _SIMPLE:
        if kind is int:
            return _static.int_text(value)
        if kind is bytes or kind is bytearray:
            return repr(value) if len(value) <= limit else f"{bytes(value[:limit])!r}… ({len(value)} bytes)"
        return repr(value)
    if kind is dict or kind is list or kind is tuple or kind is set or kind is frozenset:
        if is_message(value):
            return message_text(value, limit)
        if not value:
            return repr(value)
        return _contents(value, kind, limit, depth) or f"{kind.__name__} ({len(value)})"
    shape = _static.shape_of(kind)
    if _MESSAGE in shape.base_names:
        return message_text(value, limit)
    name = _static.short_name(kind).rpartition(".")[2]
    if BaseException in shape.bases:
        message = _errors.message_of(value, shape) if depth else error_message(value, shape)
        return f"{name}: {message}" if message else name
    if "enum.Enum" in shape.base_names:
        member = (shape.fields(value) or {}).get("_name_")
        # Some combined flags have no name of their own.
        return (
            f"{name}.{member}" if type(member) is str else f"{name}({one_line(_static.read_field(value, '_value_'))})"
        )
    if type in shape.bases:
        return f"<class {_static.type_name(value)}>"
    for base in (dict, list, tuple, set, frozenset, collections.deque):
        if base in shape.bases:
            return _subclass(value, base, name, limit, depth)
    found = _of_numpy(value, name, shape)
    if found:
        return found
    if str in shape.bases:
        return text_repr(str.__str__(value), limit)
    if "datetime.date" in shape.base_names or "datetime.time" in shape.base_names:
        return time_text(value, shape)
    if "datetime.timedelta" in shape.base_names:
        text = time_text(value, shape)
        return text if shape.name.startswith("pandas.") else f"{text} s"
    for number, plain in (
        (int, _static.int_text),
        (float, float.__repr__),
        (complex, complex.__repr__),
        (bytes, bytes.__repr__),
    ):
        if number in shape.bases:
            return plain(value)
    if is_text_like(kind):
        if kind is slice and depth > 2:
            return "slice(…)"
        if kind is slice:
            return (
                f"slice({', '.join(one_line(part, 40, depth + 1) for part in (value.start, value.stop, value.step))})"
            )
        text = opaque_text(value, kind)
        return text if kind is range or value is NotImplemented else f"{name}({text!r})"
    if kind is types.FunctionType or kind is types.MethodType or kind is types.BuiltinFunctionType:
        return f"<function {opaque_text(value, kind)}>"
    fields = None if opaque_reason(value, kind, shape) is not None else shape.fields(value)
    if fields is None:
        return f"<{_static.type_name(kind)}>"
    if depth > 1:
        return f"{name}(…)"
    shown = [(key, item) for key, item in fields.items() if not key.startswith("_")]
    return _fields(name, shown, limit, depth)


def _of_numpy(value: Any, name: str, shape: _static.Shape) -> str:
    """`ndarray (2 × 3) int32`, or a scalar's value; empty for everything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return ""
    if "numpy.ndarray" in shape.base_names:
        sizes, dtype = array_shape(value, numpy)
        return f"{name} ({' × '.join(map(str, sizes))}) {dtype}"
    if "numpy.generic" in shape.base_names:
        item = scalar_item(value, numpy)
        return scalar_text(value, numpy) if item is _static.MISSING else one_line(item)
    return ""


def _fields(name: str, fields: list[tuple[str, Any]], limit: int, depth: int) -> str:
    parts: list[str] = []
    room = limit - len(name) - 2
    for key, item in fields:
        part = f"{key}={one_line(item, 40, depth + 1)}"
        room -= len(part) + 2
        if room < 0 or len(parts) == _MOST_ITEMS:
            parts.append("…")
            break
        parts.append(part)
    return f"{name}({', '.join(parts)})"


def _subclass(value: Any, base: Any, name: str, limit: int, depth: int) -> str:
    """`Counter({'a': 2})`, `Point(x=1, y=2)`: by the methods of the builtin type alone."""
    if base is tuple:
        items = tuple.__getitem__(value, slice(None))
        names = _static.find_in_class(type(value), "_fields")
        if type(names) is tuple and len(names) == len(items) > 0 and all(type(each) is str for each in names):
            # As it is recorded: with names that are there twice, none tells which item it is.
            if len(set(names)) == len(items):
                return f"{name}(…)" if depth > 1 else _fields(name, list(zip(names, items)), limit, depth)
    return _named(name, value, base, limit, depth)


def _named(name: str, value: Any, base: Any, limit: int, depth: int) -> str:
    size = base.__len__(value)
    if size == 0:
        return f"{name}()"
    inside = _contents(value, base, limit, depth)
    return f"{name}({inside})" if inside else f"{name} ({size})"


def _contents(value: Any, base: Any, limit: int, depth: int) -> str:
    """What is in a container where it fits on a line, else empty."""
    if base.__len__(value) > _MOST_ITEMS or depth > 2:
        return ""
    parts: list[str] = []
    room = min(limit, 100)
    items: Any = _static.pairs_of(value) if base is dict else list(base.__iter__(value))
    for item in items:
        if base is dict:
            part = f"{one_line(item[0], 30, depth + 1)}: {one_line(item[1], 60, depth + 1)}"
        else:
            if is_message(item):
                return ""
            part = one_line(item, 60, depth + 1)
        room -= len(part) + 2
        if room < 0:
            return ""
        parts.append(part)
    inside = ", ".join(parts)
    if base is dict:
        return f"{{{inside}}}"
    if base is tuple:
        return f"({inside},)" if len(parts) == 1 else f"({inside})"
    if base is set:
        return f"{{{inside}}}"
    return f"frozenset({{{inside}}})" if base is frozenset else f"[{inside}]"


def with_reason(value: Any, text: str) -> str:
    """The line of a value that has nothing to open, with why; such as a generator's."""
    if text != f"<{_static.type_name(type(value))}>":
        return text
    kind = type(value)
    reason = opaque_reason(value, kind, _static.shape_of(kind))
    return f"{text} ({reason or 'it has no fields that can be read without running code'})"


def own_text(value: Any, text: str) -> str:
    """What the object's `__repr__` said. A number or text has nothing below it that would show what it is, so it shows that as well."""
    bases = _static.bases_of(type(value))
    for base in (str, int, float, complex, bytes):
        if base in bases:
            plain = one_line(value, TEXT)
            return text if text == plain else f"{plain} (its __repr__ says {text[:200]})"
    return text


def own_repr(value: Any) -> bool:
    """Whether the app wrote a `__repr__` for it that says more than its fields, so that running it is worth the price."""
    kind = type(value)
    if id(kind) in _SIMPLE or not _static.is_python_class(kind) or is_message(value):
        return False
    shape = _static.shape_of(kind)
    if BaseException in shape.bases or "enum.Enum" in shape.base_names or type in shape.bases or is_text_like(kind):
        return False
    if any(name.startswith(("datetime.", "langchain_core.messages.")) for name in shape.base_names):
        return False
    for base in shape.bases:
        if "__repr__" in _static.namespace(base):
            return base is not object and base not in (
                dict,
                list,
                tuple,
                set,
                frozenset,
                str,
                int,
                float,
                bytes,
                complex,
            )
    return False


def full_text(value: Any) -> str:
    """The whole value for the clipboard: a string as it is, anything else as Python writes it. Runs the app's `__repr__`."""
    return value if type(value) is str else repr(value)
