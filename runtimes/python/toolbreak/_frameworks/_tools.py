"""Tool calls of LangChain: one call for one tool call, around the tool's own function.

`BaseTool.run` parses the raw input and packs the result; `_run` and `_arun` are what it runs in between. The call is made there: its arguments
are those of the function, its result is the function's. `run` is wrapped only to know which `_run` belongs to a tool call, and to see
input that the tool's schema refuses.
"""

from __future__ import annotations

import inspect
import weakref
from contextvars import ContextVar
from typing import Any

from .. import _boundaries, _call_types, _calls, _report, _standard
from ._origin import code_of, function_for
from ._patch import need, prune, replace

_INJECTED_KEYS = frozenset({"run_manager", "callbacks", "config"})


class ToolRun:
    """One `run` or `arun` of a tool, until its function is called."""

    __slots__ = ("call_id", "invalid", "taken", "tool")

    def __init__(self, tool: Any, call_id: Any) -> None:
        self.tool = tool
        self.call_id = call_id
        self.taken = False
        #: What the schema said to the raw input, when it refused it.
        self.invalid: BaseException | None = None


_running: ContextVar[ToolRun | None] = ContextVar("toolbreak_tool_run", default=None)


class ToolAdapter(_call_types.CallAdapter):
    """What is known of one tool: its function, its parameters, its schema."""

    def __init__(self, tool: Any) -> None:
        self.name = str(tool.name)
        fields = tool.__dict__
        target = fields.get("func") or fields.get("coroutine")
        if target is None:
            base = _base_tool()
            cls = type(tool)
            target = cls._run if cls._arun is base._arun else cls._arun
        #: Not the function itself: through it, its module and the tool would be kept alive.
        self.code = code_of(target)
        schema = fields.get("args_schema")
        self._schema: Any = weakref.ref(schema) if isinstance(schema, type) else None
        self.function = function_for("tool", target, self.name)
        self.parameters = _parameters(target)
        self.hidden = _injected(tool, schema) | _INJECTED_KEYS

    def detail(self, call: _call_types.Call) -> str:
        return "tool"

    def check_args(self, call: _call_types.Call, name: str, value: Any) -> Any:
        """The schema's own validation, of this argument among the others as they are now."""
        schema = self._schema and self._schema()
        if schema is None or not hasattr(schema, "model_validate"):
            return value
        from pydantic import ValidationError

        try:
            return getattr(schema.model_validate({**call.args, name: value}), name, value)  # type: ignore[attr-defined]
        except ValidationError as error:
            for entry in error.errors():
                if entry["loc"] and entry["loc"][0] == name:
                    raise ValueError(_refusal(schema, name, str(entry["msg"]))) from None
        return value

    def is_default(self, call: _call_types.Call, name: str, value: Any) -> bool:
        parameter = self.parameters.get(name)
        return parameter is not None and parameter.default is value

    def arguments(self, positional: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        """The function's own arguments by name, defaults included, without what the framework slips in."""
        names = list(self.parameters)
        found: dict[str, Any] = {}
        for index, value in enumerate(positional):
            found[names[index] if index < len(names) else f"input{index or ''}"] = value
        for name, value in keywords.items():
            if name not in self.hidden:
                found[name] = value
        for name, parameter in self.parameters.items():
            if name not in found and name not in self.hidden and parameter.default is not parameter.empty:
                found[name] = parameter.default
        return found

    def passed(
        self, args: dict[str, Any], positional: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The way back: what to call the function with, so that an unedited call gets exactly what it would have got."""
        names = list(self.parameters)
        given: list[Any] = []
        seen: set[str] = set()
        for index, value in enumerate(positional):
            name = names[index] if index < len(names) else f"input{index or ''}"
            seen.add(name)
            given.append(args.get(name, value))
        result = {name: value for name, value in keywords.items() if name in self.hidden}
        for name, value in args.items():
            if name in seen:
                continue
            if name not in keywords:
                parameter = self.parameters.get(name)
                if parameter is not None and parameter.default is value:
                    continue
            result[name] = value
        return tuple(given), result


def _base_tool() -> Any:
    from langchain_core.tools.base import BaseTool

    return BaseTool


def _parameters(target: Any) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError, NameError):
        return {}
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: parameter for name, parameter in parameters.items() if parameter.kind not in kinds and name != "self"}


def _injected(tool: Any, schema: Any) -> set[str]:
    """Arguments that the framework fills in, such as the state or the runtime."""
    hidden: set[str] = set()
    try:
        hidden.update(getattr(tool, "_injected_args_keys", None) or ())
        from langchain_core.tools import InjectedToolArg

        for name, field in getattr(schema, "model_fields", {}).items():
            for mark in field.metadata:
                if isinstance(mark, InjectedToolArg) or (isinstance(mark, type) and issubclass(mark, InjectedToolArg)):
                    hidden.add(name)
    except Exception as error:
        _report.failure(error)
    return hidden


_WORDS = {
    int: "an integer",
    float: "a number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "a dictionary",
}


def _refusal(schema: Any, name: str, said: str) -> str:
    field = schema.model_fields.get(name)
    kind = field.annotation if field is not None else None
    kind = getattr(kind, "__origin__", None) or kind
    word = _WORDS.get(kind) if isinstance(kind, type) else None
    return f"{name} {'must be ' + word if word else 'was refused'} (the tool's own schema said: {said})"


_adapters: dict[int, tuple[Any, ToolAdapter]] = {}


def adapter_of(tool: Any) -> ToolAdapter:
    known = _adapters.get(id(tool))
    # It may be given another name later.
    if known is not None and known[0]() is tool and known[1].name == str(tool.name):
        return known[1]
    made = ToolAdapter(tool)
    if len(_adapters) > 1000:
        _adapters.clear()
    _adapters[id(tool)] = (weakref.ref(tool), made)
    return made


def describe(tool: Any) -> str:
    """A tool's schema as a person reads it, as JSON."""
    json = _standard.module("json")

    schema = tool.args_schema
    if isinstance(schema, type):
        schema = tool.tool_call_schema.model_json_schema()
    return json.dumps({"name": tool.name, "description": tool.description, "parameters": schema}, indent=2, default=str)


def _declare(tool: Any) -> None:
    adapter = adapter_of(tool)
    from . import _texts

    _texts.put_weak(f"tool:{adapter.name}", f"Tool {adapter.name}.json", "application/json", tool, describe)


# ---------------------------------------------------------------- the hooks


def _starts(tool: Any, keywords: dict[str, Any]) -> ToolRun | None:
    try:
        _wrap_own(type(tool))
        return ToolRun(tool, keywords.get("tool_call_id"))
    except Exception as error:
        _report.failure(error)
        return None


def _wrap_run(original: Any) -> Any:
    def run(self: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        if not _calls.attached or (started := _starts(self, kwargs)) is None:
            return original(self, tool_input, *args, **kwargs)
        token = _running.set(started)
        try:
            result = original(self, tool_input, *args, **kwargs)
        except BaseException as error:
            prune(error)
            if started.invalid is None or started.taken or not isinstance(error, Exception):
                raise
            started.taken = True
            adapter = adapter_of(self)
            again = _invalid(started, tool_input, error, original, args, kwargs)
            return _boundaries.execute(adapter.function, _raw(tool_input), again, adapter=adapter)
        finally:
            _running.reset(token)
        if started.invalid is not None and not started.taken:
            _note_handled(started, tool_input)
        return result

    return run


def _wrap_arun(original: Any) -> Any:
    async def arun(self: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        if not _calls.attached or (started := _starts(self, kwargs)) is None:
            return await original(self, tool_input, *args, **kwargs)
        token = _running.set(started)
        try:
            result = await original(self, tool_input, *args, **kwargs)
        except BaseException as error:
            prune(error)
            if started.invalid is None or started.taken or not isinstance(error, Exception):
                raise
            started.taken = True
            adapter = adapter_of(self)
            again = _ainvalid(started, tool_input, error, original, args, kwargs)
            return await _boundaries.aexecute(adapter.function, _raw(tool_input), again, adapter=adapter)
        finally:
            _running.reset(token)
        if started.invalid is not None and not started.taken:
            _note_handled(started, tool_input)
        return result

    return arun


def _raw(tool_input: Any) -> dict[str, Any]:
    return dict(tool_input) if isinstance(tool_input, dict) else {"input": tool_input}


def _unraw(tool_input: Any, args: dict[str, Any]) -> Any:
    return args if isinstance(tool_input, dict) else args.get("input")


def _invalid(started: ToolRun, tool_input: Any, error: BaseException, original: Any, args: Any, kwargs: Any) -> Any:
    """A failed call with the raw input; run again, it is parsed again."""
    first = [error]

    def invoke(edited: dict[str, Any]) -> Any:
        if first:
            raise first.pop()
        return original(started.tool, _unraw(tool_input, edited), *args, **kwargs)

    return invoke


def _ainvalid(started: ToolRun, tool_input: Any, error: BaseException, original: Any, args: Any, kwargs: Any) -> Any:
    first = [error]

    async def invoke(edited: dict[str, Any]) -> Any:
        if first:
            raise first.pop()
        return await original(started.tool, _unraw(tool_input, edited), *args, **kwargs)

    return invoke


def _note_handled(started: ToolRun, tool_input: Any) -> None:
    """The tool turned the schema's refusal into a message: recorded as a failed call, without a stop."""
    error = started.invalid
    assert error is not None
    try:
        adapter = adapter_of(started.tool)
        call = _calls.begin(adapter.function, _raw(tool_input), adapter=adapter)
        call.error = error
        _calls.end(call, _call_types.ERROR)
    except Exception as failure:
        _report.failure(failure)


def _wrap_parse(original: Any) -> Any:
    def _to_args_and_kwargs(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except Exception as error:
            started = _running.get()
            if started is not None and started.tool is self and not started.taken:
                started.invalid = error
            raise

    return _to_args_and_kwargs


def _take(tool: Any) -> ToolRun | None:
    """The tool call this `_run` is the function of; None when it is a plain call, or inside the function already."""
    started = _running.get()
    if started is None or started.tool is not tool or started.taken or not _calls.attached:
        return None
    started.taken = True
    return started


def _prepare(
    started: ToolRun, positional: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[ToolAdapter, dict[str, Any], Any] | None:
    try:
        adapter = adapter_of(started.tool)
        attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": adapter.name}
        if started.call_id is not None:
            attributes["gen_ai.tool.call.id"] = str(started.call_id)
        return adapter, adapter.arguments(positional, keywords), attributes
    except Exception as error:
        _report.failure(error)
        return None


def _step_started(call: _call_types.Call) -> None:
    """Says which of the node's announced tool calls this is, for a step into one of them."""
    above = call.parent
    asked = getattr(above.adapter, "tool_started", None) if above is not None else None
    wanted = call.attributes.get("gen_ai.tool.call.id")
    if asked is not None and wanted is not None:
        call.step_id = asked(wanted)


def _wrap_function(original: Any) -> Any:
    def _run(self: Any, *args: Any, **kwargs: Any) -> Any:
        started = _take(self)
        prepared = _prepare(started, args, kwargs) if started is not None else None
        if prepared is None:
            return original(self, *args, **kwargs)
        adapter, arguments, attributes = prepared

        def invoke(edited: dict[str, Any]) -> Any:
            positional, keywords = adapter.passed(edited, args, kwargs)
            return original(self, *positional, **keywords)

        return _boundaries.execute(
            adapter.function,
            arguments,
            invoke,
            adapter=adapter,
            attributes=attributes,
            pending=adapter.code,
            started=_step_started,
        )

    return _run


def _wrap_afunction(original: Any) -> Any:
    async def _arun(self: Any, *args: Any, **kwargs: Any) -> Any:
        started = _take(self)
        prepared = _prepare(started, args, kwargs) if started is not None else None
        if prepared is None:
            return await original(self, *args, **kwargs)
        adapter, arguments, attributes = prepared

        async def invoke(edited: dict[str, Any]) -> Any:
            positional, keywords = adapter.passed(edited, args, kwargs)
            return await original(self, *positional, **keywords)

        return await _boundaries.aexecute(
            adapter.function,
            arguments,
            invoke,
            adapter=adapter,
            attributes=attributes,
            pending=adapter.code,
            started=_step_started,
        )

    return _arun


#: By the class itself: the id of one that is gone may be that of the next.
_wrapped: weakref.WeakSet[type] = weakref.WeakSet()


def _wrap_own(cls: type) -> None:
    """Wraps `_run` and `_arun` where the tool's class, or one it inherits from, defines them."""
    if cls in _wrapped:
        return
    for owner in cls.__mro__:
        if owner.__module__.startswith("pydantic") or owner is object:
            continue
        own = owner.__dict__
        if "_run" in own and inspect.isfunction(own["_run"]):
            replace(owner, "_run", _wrap_function)
        if "_arun" in own and inspect.iscoroutinefunction(own["_arun"]):
            replace(owner, "_arun", _wrap_afunction)
        if "_to_args_and_kwargs" in own:
            replace(owner, "_to_args_and_kwargs", _wrap_parse)
    _wrapped.add(cls)


def _wrap_init(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _report.guard(_declare, self)

    return __init__


def install() -> None:
    base = _base_tool()
    found = replace(base, "run", _wrap_run)
    found = replace(base, "arun", _wrap_arun) and found
    need(found, "this LangChain is not one whose tools can be stopped; plain functions still stop.")
    _wrap_own(base)
    replace(base, "__init__", _wrap_init)


def install_structured() -> None:
    from langchain_core.tools.structured import StructuredTool

    _wrap_own(StructuredTool)


def install_simple() -> None:
    from langchain_core.tools.simple import Tool

    _wrap_own(Tool)
