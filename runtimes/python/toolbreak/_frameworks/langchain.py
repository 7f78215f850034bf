"""Model calls of LangChain: `_generate_with_cache` and its async twin, `stream` and `astream`."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from .. import _boundaries, _call_types, _calls, _report, _static
from . import _texts
from ._origin import is_user_file
from ._patch import need, replace
from ._streams import All, Inner, aiterate, iterate


class _Streamed:
    """A stream of a model is its call already: what it asks the model for, where the model cannot stream, is not another one. What else it asks is."""

    __slots__ = ("model", "taken")

    def __init__(self, model: Any, async_api: bool, options: dict[str, Any]) -> None:
        self.model = model
        #: It asks for nothing, or has done so.
        self.taken = False
        try:
            self.taken = bool(model._should_stream(async_api=async_api, **{**options, "stream": True}))
        except Exception as error:
            _report.let_through(error)


_inside: ContextVar[_Streamed | None] = ContextVar("toolbreak_model", default=None)


def _is_made(model: Any) -> bool:
    """Whether a stream made the call of this generation; it does so once."""
    streamed = _inside.get()
    if streamed is None or streamed.model is not model or streamed.taken:
        return False
    streamed.taken = True
    return True


class ModelAdapter(_call_types.CallAdapter):
    """Reads a model call. Results are messages, also where LangChain packs them deeper."""

    def messages(self, call: _call_types.Call) -> list[Any] | None:
        given = call.args.get("messages")
        return given if isinstance(given, list) else None

    def check_args(self, call: _call_types.Call, name: str, value: Any) -> Any:
        if name == "messages" and not (isinstance(value, list) and all(_is_message(item) for item in value)):
            raise ValueError("messages must be a list of messages")
        return value

    def check_result(self, call: _call_types.Call, value: Any) -> Any:
        if not _is_message(value):
            raise ValueError("the result of a model call must be a message, such as AIMessage(content='...')")
        return value

    def returned(self, call: _call_types.Call, result: Any) -> None:
        # Of an attempt before this one.
        call.attributes.pop("toolbreak.partial", None)
        fields = _fields(result)
        usage = fields.get("usage_metadata")
        if isinstance(usage, dict):
            call.set(**_usage(usage))
        answer = fields.get("response_metadata")
        if isinstance(answer, dict):
            name = answer.get("model_name") or answer.get("model")
            if isinstance(name, str):
                call.set(**{"gen_ai.response.model": name})
            reason = answer.get("finish_reason") or answer.get("stop_reason")
            if isinstance(reason, str):
                call.set(**{"gen_ai.response.finish_reasons": [reason]})

    def left(self, call: _call_types.Call, pieces: list[Any]) -> None:
        """What was streamed until then was read by somebody, and paid for."""
        if not pieces:
            # Of an attempt before this one; its tokens were paid for.
            for name in ("toolbreak.partial", "gen_ai.response.model", "gen_ai.response.finish_reasons"):
                call.attributes.pop(name, None)
        else:
            partial = _join(pieces)
            self.returned(call, partial)
            call.set(**{"toolbreak.partial": partial})

    def detail(self, call: _call_types.Call) -> str:
        return "model"


def _fields(value: Any) -> dict[str, Any]:
    """The instance fields of a message or model, without running its code."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


#: (part of `usage_metadata`, its field, as OpenTelemetry calls it)
_PARTS_OF_USAGE = (
    ("input_token_details", "cache_read", "gen_ai.usage.cache_read.input_tokens"),
    ("input_token_details", "cache_creation", "gen_ai.usage.cache_creation.input_tokens"),
    ("output_token_details", "reasoning", "gen_ai.usage.reasoning.output_tokens"),
)


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    told = {
        "gen_ai.usage.input_tokens": usage.get("input_tokens", 0),
        "gen_ai.usage.output_tokens": usage.get("output_tokens", 0),
    }
    for part, field, name in _PARTS_OF_USAGE:
        details = usage.get(part)
        count = details.get(field) if isinstance(details, dict) else None
        if isinstance(count, int):
            told[name] = count
    return told


def _is_message(value: Any) -> bool:
    from langchain_core.messages import BaseMessage

    return isinstance(value, BaseMessage)


_adapter = ModelAdapter()
#: By the id of the model's class and its name; the class, weakly, proves the id.
_functions: dict[tuple[int, str], tuple[Any, _call_types.Function]] = {}


def model_name(model: Any) -> str:
    """`gpt-x`: what the model itself calls itself, else its class."""
    fields = _fields(model)
    for key in ("model_name", "model", "model_id", "deployment_name"):
        name = fields.get(key)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


def _function(model: Any) -> _call_types.Function:
    name = model_name(model)
    cls = type(model)
    known = _functions.get((id(cls), name))
    found = known[1] if known is not None and known[0]() is cls else None
    if found is None:
        path, line, end = "", 0, 0
        for method in ("_generate", "_agenerate", "_stream", "_astream"):
            code = getattr(_static.find_in_class(cls, method), "__code__", None)
            if code is not None and is_user_file(code.co_filename):
                path, line, end = code.co_filename, code.co_firstlineno, code.co_firstlineno
                break
        found = _calls.function(
            "llm",
            name,
            qualname=f"{cls.__qualname__}.{name}",
            module=cls.__module__,
            path=path or None,
            line=line,
            end_line=end,
        )
        if len(_functions) > 1000:
            _functions.clear()
        _functions[id(cls), name] = (weakref.ref(cls), found)
    return found


def _prepare(
    model: Any, messages: Any, stop: Any, options: dict[str, Any]
) -> tuple[_call_types.Function, dict[str, Any], dict[str, Any]] | None:
    try:
        function = _function(model)
        args: dict[str, Any] = {"messages": list(messages) if isinstance(messages, (list, tuple)) else messages}
        if stop is not None:
            args["stop"] = stop
        args.update(options)
        asked = options.get("model")
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": asked if isinstance(asked, str) and asked else function.name,
        }
        fields = _fields(model)
        for key in ("temperature", "max_tokens", "top_p"):
            value = options.get(key, fields.get(key))
            if isinstance(value, (int, float)):
                attributes[f"gen_ai.request.{key}"] = value
        _show_prompt(function.name, args["messages"])
        return function, args, attributes
    except Exception as error:
        _report.failure(error)
        return None


def _show_prompt(name: str, messages: Any) -> None:
    """Keeps the newest model call's messages, to be read as one text."""
    held = tuple(messages) if isinstance(messages, list) else (messages,)

    def text() -> str:
        lines: list[str] = []
        for message in held:
            fields = _fields(message)
            lines.append(f"## {fields.get('type', type(message).__name__)}\n")
            lines.append(str(fields.get("content", message)))
            for call in fields.get("tool_calls") or ():
                lines.append(
                    f"→ {call.get('name')}({', '.join(f'{k}={v!r}' for k, v in call.get('args', {}).items())})"
                )
            lines.append("")
        return "\n".join(lines)

    _texts.put("prompt", f"Prompt of {name}.md", "text/markdown", text)


class _Packed:
    """Takes the message out of a chat result for the call, and puts an edited one back."""

    def __init__(self) -> None:
        self.whole: Any = None

    def unpack(self, whole: Any) -> Any:
        self.whole = whole
        generations = getattr(whole, "generations", None)
        return generations[0].message if generations else whole

    def pack(self, message: Any) -> Any:
        whole = self.whole
        if whole is not None and (not whole.generations or whole.generations[0].message is message):
            return whole
        from langchain_core.outputs import ChatGeneration, ChatResult

        rest = list(whole.generations[1:]) if whole is not None else []
        output = whole.llm_output if whole is not None else None
        return ChatResult(generations=[ChatGeneration(message=message), *rest], llm_output=output)


def _own_arguments(args: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    rest = dict(args)
    return rest.pop("messages", None), rest.pop("stop", None), rest


def _wrap_generate(original: Any) -> Any:
    def _generate_with_cache(self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        if not _calls.attached or _is_made(self):
            return original(self, messages, stop, run_manager, **kwargs)
        prepared = _prepare(self, messages, stop, kwargs)
        if prepared is None:
            return original(self, messages, stop, run_manager, **kwargs)
        function, args, attributes = prepared
        packed = _Packed()

        def invoke(edited: dict[str, Any]) -> Any:
            given, ends, rest = _own_arguments(edited)
            return packed.unpack(original(self, given, ends, run_manager, **rest))

        return packed.pack(_boundaries.execute(function, args, invoke, adapter=_adapter, attributes=attributes))

    return _generate_with_cache


def _wrap_agenerate(original: Any) -> Any:
    async def _agenerate_with_cache(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        if not _calls.attached or _is_made(self):
            return await original(self, messages, stop, run_manager, **kwargs)
        prepared = _prepare(self, messages, stop, kwargs)
        if prepared is None:
            return await original(self, messages, stop, run_manager, **kwargs)
        function, args, attributes = prepared
        packed = _Packed()

        async def invoke(edited: dict[str, Any]) -> Any:
            given, ends, rest = _own_arguments(edited)
            return packed.unpack(await original(self, given, ends, run_manager, **rest))

        return packed.pack(await _boundaries.aexecute(function, args, invoke, adapter=_adapter, attributes=attributes))

    return _agenerate_with_cache


def _join(pieces: list[Any]) -> Any:
    whole: Any = None
    for piece in pieces:
        whole = piece if whole is None else whole + piece
    return whole


def _stream_input(model: Any, given: Any) -> Any:
    return model._convert_input(given).to_messages()


def _streaming(model: Any, given: Any, stop: Any, kwargs: dict[str, Any]) -> Any:
    if not _calls.attached:
        return None
    try:
        return _prepare(model, _stream_input(model, given), stop, kwargs)
    except Exception:
        return None  # The model itself says what is wrong with its input.


def _wrap_stream(original: Any) -> Any:
    def stream(self: Any, input: Any, config: Any = None, *, stop: Any = None, **kwargs: Any) -> Any:
        prepared = _streaming(self, input, stop, kwargs)
        if prepared is None:
            yield from original(self, input, config, stop=stop, **kwargs)
            return
        function, args, attributes = prepared

        def invoke(edited: dict[str, Any]) -> Any:
            given, ends, rest = _own_arguments(edited)
            source = original(self, given, config, stop=ends, **rest)
            streamed = _Streamed(self, False, rest)
            try:
                while True:
                    token = _inside.set(streamed)
                    try:
                        piece = next(source)
                    except StopIteration:
                        return
                    finally:
                        _inside.reset(token)
                    yield piece
            finally:
                source.close()

        yield from iterate(function, args, invoke, lambda: All(_join), adapter=_adapter, attributes=attributes)

    return stream


def _wrap_astream(original: Any) -> Any:
    async def astream(self: Any, input: Any, config: Any = None, *, stop: Any = None, **kwargs: Any) -> Any:
        prepared = _streaming(self, input, stop, kwargs)
        if prepared is None:
            passed = Inner(original(self, input, config, stop=stop, **kwargs))
            try:
                async for piece in passed:
                    yield piece
            finally:
                await passed.aclose()
            return
        function, args, attributes = prepared

        async def invoke(edited: dict[str, Any]) -> AsyncIterator[Any]:
            given, ends, rest = _own_arguments(edited)
            source = Inner(original(self, given, config, stop=ends, **rest))
            streamed = _Streamed(self, True, rest)
            try:
                while True:
                    token = _inside.set(streamed)
                    try:
                        piece = await source.__anext__()
                    except StopAsyncIteration:
                        return
                    finally:
                        _inside.reset(token)
                    yield piece
            finally:
                await source.aclose()

        pieces = Inner(aiterate(function, args, invoke, lambda: All(_join), adapter=_adapter, attributes=attributes))
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    return astream


def install() -> None:
    from langchain_core.language_models.chat_models import BaseChatModel

    found = replace(BaseChatModel, "_generate_with_cache", _wrap_generate)
    found = replace(BaseChatModel, "_agenerate_with_cache", _wrap_agenerate) and found
    need(found, "this LangChain is not one whose model calls can be stopped; tools still stop.")
    replace(BaseChatModel, "stream", _wrap_stream)
    replace(BaseChatModel, "astream", _wrap_astream)
