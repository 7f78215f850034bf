"""Scopes and variables of a held call."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from .. import _errors, _static
from . import _display, _nodes, _places
from ._differences import diff, path_text
from ._nodes import Gone, Node
from ._trouble import UserError, error_sentence


class HoldView(Protocol):
    """What the inspector needs of a hold. Only `call` and `boundary` must be there.

    Without `run`, code of the app runs in the asking thread under a limit of our own; without `frame_of`, `frames` is searched for an entry
    with this `id`, and its `call` and `frame` count; without `edited`, nobody is told.
    """

    #: The held call, and where it is: "before", "after" or "error".
    call: Any
    boundary: str
    #: Time limit of one evaluation.
    evaluation_seconds: float

    def run(self, work: Callable[[], Any], seconds: float) -> Any:
        """Runs it in the held task without stopping at our own boundaries. Raises TimeoutError after `seconds`, else what `work` raises."""

    def frame_of(self, frame: int) -> tuple[Any, FrameType | None]:
        """(call, source frame) of a frame id: a workflow-level frame has a call, a plain source frame has none. Raises KeyError."""
        ...

    def edited(self, call: Any, text: str, client: str) -> None:
        """A person changed something: for the console and the recording. `lookup_order: order_id 7 → 70 (edited)`."""


#: Longest wait for the objects' own texts of one view, which a person looks at while it is filled.
_TEXT_SECONDS = 1.0


class Row:
    """A line that is no value of the app: model, tokens, a difference."""

    __slots__ = ("evaluate_name", "name", "text", "type", "value")

    def __init__(
        self, name: str, text: str, value: Any = _static.MISSING, type: str = "", evaluate_name: str | None = None
    ) -> None:
        self.name = name
        self.text = text
        self.value = value
        self.type = type
        self.evaluate_name = evaluate_name


class Inspector:
    """One per hold. References are stable for equal (parent, name) while the hold lasts. Answers are dicts as in `protocol/control.ts`."""

    def __init__(self, hold: HoldView) -> None:
        self.hold = hold
        self._nodes: dict[int, Node] = {}
        self._refs: dict[tuple[int, str, str], Node] = {}
        #: Names that the console made.
        self.scratch: dict[str, Any] = {}
        #: Types whose `__repr__` was too slow once: id to the type, which keeps the id its own.
        self._slow: dict[int, type] = {}

    # ------------------------------------------------------------ references

    def node(self, ref: int) -> Node:
        try:
            return self._nodes[ref]
        except KeyError:
            raise UserError("This value belongs to an earlier stop.") from None

    def place(self, parent: int, how: str, name: str) -> Node:
        """The node of (parent, name), made when it is new."""
        found = self._refs.get((parent, how, name))
        if found is None:
            found = Node(len(self._nodes) + 1, name, None, how, None, None)
            self._refs[(parent, how, name)] = found
            self._nodes[found.ref] = found
        return found

    def root(
        self,
        frame: int,
        name: str,
        read: Callable[[], Any],
        evaluate_name: str | None,
        write: Any = None,
        fixed: bool = False,
    ) -> Node:
        node = self.place(-frame - 1, "root", name)
        node.read = read
        node.write = write
        node.evaluate_name = evaluate_name
        node.fixed = fixed
        return node

    def child_node(self, parent: Node, name: str, how: str, key: Any) -> Node:
        node = self.place(parent.ref, how, name)
        node.parent = parent
        node.key = key
        node.evaluate_name = _nodes.evaluate_name(parent.evaluate_name, how, key)
        node.fixed = parent.fixed or how == _nodes.MEMBER
        return node

    # ------------------------------------------------------------ frames

    def frame_of(self, frame: int) -> tuple[Any, FrameType | None]:
        own = getattr(self.hold, "frame_of", None)
        if own is not None:
            try:
                return own(frame)
            except KeyError:
                raise UserError("This frame belongs to an earlier stop.") from None
        for entry in getattr(self.hold, "frames", ()):
            if entry.id == frame:
                return (entry.call, entry.frame)
        raise UserError("This frame belongs to an earlier stop.")

    @property
    def seconds(self) -> float:
        return float(getattr(self.hold, "evaluation_seconds", 10.0))

    def run(self, work: Callable[[], Any], seconds: float | None = None) -> Any:
        """Runs code of the app under the time limit. Raises TimeoutError."""
        own = getattr(self.hold, "run", None)
        if own is not None:
            return own(work, seconds or self.seconds)
        from ._limits import run_limited

        return run_limited(work, seconds or self.seconds)

    def edited(self, call: Any, text: str, client: str) -> None:
        call.edited = True
        own = getattr(self.hold, "edited", None)
        if own is not None:
            own(call, text, client)

    def state_owner(self, call: Any) -> Any:
        """The call whose state this call works on: itself, or the nearest around it that has one."""
        while call is not None and call.state is None:
            call = call.parent
        return call

    def boundary_of(self, call: Any) -> str:
        return self.hold.boundary if call is self.hold.call else ""

    def arguments_node(self, frame: int, call: Any) -> Node:
        return self.root(frame, "Arguments", lambda: call.args, "args")

    def state_node(self, frame: int, call: Any) -> Node | None:
        owner = self.state_owner(call)
        return None if owner is None else self.root(frame, "State", lambda: owner.state, "state")

    def result_node(self, frame: int, call: Any) -> Node:
        def write(new: Any) -> Callable[[], None]:
            old = call.result
            call.result = new

            def undo() -> None:
                call.result = old

            return undo

        return self.root(frame, "result", lambda: call.result, "result", write)

    # ------------------------------------------------------------ scopes

    def scopes(self, frame: int) -> list[dict[str, Any]]:
        call, source = self.frame_of(frame)
        found: list[dict[str, Any]] = []
        if call is None:
            assert source is not None
            return self._source_scopes(frame, source)
        boundary = self.boundary_of(call)
        state = self.state_node(frame, call)
        # A node is given its state alone, mostly. Editors open the first scope, which is to show something.
        if call.args or state is None or call.kind != "node":
            found.append(self._scope("Arguments", self.arguments_node(frame, call), "arguments"))
        if state is not None:
            found.append(self._scope("State", state))
        if boundary == "after" and (call.state_before is not None or call.changes):
            found.append(self._scope("Changes", self._rows(frame, "Changes", lambda: self._changes(call))))
        if self._messages(call):
            found.append(self._scope("Messages", self._rows(frame, "Messages", lambda: self._message_rows(call))))
        if boundary == "after":
            node = self._rows(frame, "Result", list)
            result = self.result_node(frame, call)
            node.children = lambda: [result]
            found.append(self._scope("Result", node, "returnValue"))
        if call.error is not None:
            found.append(self._scope("Error", self._rows(frame, "Error", lambda: self._error_rows(call))))
        if source is not None and boundary not in ("before", "after"):
            found.extend(self._source_scopes(frame, source))
        found.append(self._scope("Call", self._rows(frame, "Call", lambda: self._call_rows(call))))
        return found

    def _source_scopes(self, frame: int, source: FrameType) -> list[dict[str, Any]]:
        # A module's own names are its globals: shown once, and at once.
        globals_node = self.root(frame, "Globals", lambda: source.f_globals, None)
        if source.f_locals is source.f_globals:
            return [self._scope("Globals", globals_node)]
        return [
            self._scope("Locals", self.locals_node(frame, source), "locals"),
            self._scope("Globals", globals_node, expensive=True),
        ]

    def locals_node(self, frame: int, source: FrameType) -> Node:
        return self.root(frame, "Locals", lambda: dict(source.f_locals), None)

    def _rows(self, frame: int, name: str, rows: Callable[[], list[Any]]) -> Node:
        node = self.place(-frame - 1, "rows", name)
        node.children = rows
        node.read = lambda: None
        node.fixed = True
        return node

    def _scope(self, name: str, node: Node, hint: str | None = None, expensive: bool = False) -> dict[str, Any]:
        scope: dict[str, Any] = {"name": name, "ref": node.ref, "expensive": expensive}
        if hint:
            scope["hint"] = hint
        if node.children is None and not expensive:
            named, indexed = _nodes.counts(node.value())
            scope["named"] = named
            scope["indexed"] = indexed
        return scope

    def _changes(self, call: Any) -> list[Row]:
        rows: list[Row] = []
        if call.state_before is not None and call.state is not None:
            for change, path, before, after in diff(call.state_before, call.state):
                path = path or "state"
                if change == "added":
                    rows.append(Row(f"+ {path}", _display.one_line(after), after, _display.type_text(after)))
                elif change == "removed":
                    rows.append(Row(f"- {path}", _display.one_line(before), before, _display.type_text(before)))
                else:
                    text = f"{_display.one_line(before, 80)} → {_display.one_line(after, 120)}"
                    rows.append(Row(f"~ {path}", text, after, _display.type_text(after)))
        elif call.changes:
            for name, value in list(call.changes.items()):
                rows.append(Row(f"~ {name}", _display.one_line(value), value, _display.type_text(value)))
        return rows

    def _messages(self, call: Any) -> list[Any]:
        if call.adapter is not None:
            try:
                found = call.adapter.messages(call)
                if found:
                    return list(found)
            except Exception:
                return []
        owner = self.state_owner(call)
        if owner is None:
            return []
        try:
            messages = _nodes.child(owner.state, _nodes.KEY if type(owner.state) is dict else _nodes.FIELD, "messages")
        except Gone:
            return []
        return list(messages) if type(messages) is list else []

    def _message_rows(self, call: Any) -> list[Row]:
        owner = self.state_owner(call)
        known: dict[int, int] = {}
        if owner is not None:
            try:
                messages = _nodes.child(
                    owner.state, _nodes.KEY if type(owner.state) is dict else _nodes.FIELD, "messages"
                )
                known = {id(message): index for index, message in enumerate(messages)} if type(messages) is list else {}
            except Gone:
                pass
        way = 'state["messages"]' if owner is not None and type(owner.state) is dict else "state.messages"
        rows: list[Row] = []
        for index, message in enumerate(self._messages(call)):
            name = f"{way}[{known[id(message)]}]" if id(message) in known else None
            rows.append(Row(f"[{index}]", _display.one_line(message), message, _display.type_text(message), name))
        return rows

    def _error_rows(self, call: Any) -> list[Row]:
        error = call.error
        shape = _static.shape_of(type(error))
        rows = [
            Row("type", _static.type_name(type(error))),
            Row("message", _display.error_message(error, shape)),
            Row("error", _display.one_line(error), error, _display.type_text(error), "error"),
        ]
        way, cause = _errors.cause_of(error)
        if cause is not None:
            rows.append(Row(way, _display.one_line(cause), cause, _display.type_text(cause)))
        return rows

    def _call_rows(self, call: Any) -> list[Row]:
        rows = [Row("kind", call.kind), Row("name", call.name)]
        rest = dict(call.attributes)

        def take(label: str, *names: str) -> None:
            for name in names:
                value = rest.pop(name, None)
                if value is not None:
                    rows.append(
                        Row(
                            label,
                            value if type(value) is str else _display.one_line(value),
                            value,
                            _display.type_text(value),
                        )
                    )
                    return

        take("run", "run", "run_name")
        take("step", "step", "langgraph_step", "langgraph.step")
        rows.append(Row("task", call.task.name if call.task is not None else ""))
        if call.started_ns:
            now, clock = time.monotonic_ns(), time.time()
            ago = (now - call.started_ns) / 1e9
            started = clock - ago
            rows.append(
                Row(
                    "started",
                    time.strftime("%H:%M:%S", time.localtime(started))
                    + f".{int(started % 1 * 1000):03d}, {ago:.1f} s ago",
                )
            )
        take("model", "gen_ai.request.model", "gen_ai.response.model", "model")
        take("tokens in", "gen_ai.usage.input_tokens", "input_tokens")
        take("tokens out", "gen_ai.usage.output_tokens", "output_tokens")
        take("cost", "cost", "gen_ai.usage.cost")
        for name in sorted(key for key in rest if type(key) is str):
            value = rest[name]
            rows.append(
                Row(name, value if type(value) is str else _display.one_line(value), value, _display.type_text(value))
            )
        function = call.function
        if function.module:
            rows.append(Row("function", f"{function.module}.{function.qualname}"))
        rows.append(Row("call id", str(call.number)))
        if call.parent is not None:
            rows.append(Row("parent call id", str(call.parent.number)))
        return rows

    # ------------------------------------------------------------ variables

    def variables(
        self, ref: int, filter: str | None = None, start: int | None = None, count: int | None = None
    ) -> list[dict[str, Any]]:
        node = self.node(ref)
        begin, most = max(0, start or 0), max(0, count or 0)
        if node.children is not None:
            rows = node.children()
            rows = rows[begin : begin + most] if most else rows[begin:]
            answers: list[dict[str, Any]] = []
            for row in rows:
                answers.append(self.variable(row, row.value()) if isinstance(row, Node) else self._row(node, row))
            return answers
        try:
            value = node.value()
        except Gone:
            return []
        found = [
            (self.child_node(node, name, how, key), item)
            for name, how, key, item in _nodes.list_children(value, filter, begin, most)
        ]
        own = self._own_texts([item for _, item in found])
        return [self.variable(place, item, own.get(id(item))) for place, item in found]

    def _row(self, parent: Node, row: Row) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "name": row.name,
            "value": row.text,
            "ref": 0,
            "editable": False,
            "attributes": ["readOnly"],
        }
        if row.type:
            answer["type"] = row.type
        if row.evaluate_name:
            answer["evaluateName"] = row.evaluate_name
        if row.value is not _static.MISSING:
            named, indexed = _nodes.counts(row.value)
            located = _places.is_located(row.value)
            if named or indexed or located:
                node = self.place(parent.ref, "row", row.name)
                value = row.value
                node.read = lambda: value
                node.evaluate_name = row.evaluate_name
                node.fixed = True
                if named or indexed:
                    answer.update(ref=node.ref, named=named, indexed=indexed)
                if located:
                    answer["location"] = node.ref
        return answer

    def variable(self, node: Node, value: Any, own: str | None = None) -> dict[str, Any]:
        """A variable as the protocol has it."""
        named, indexed = _nodes.counts(value)
        text = own if own is not None else self._line(value)
        answer: dict[str, Any] = {
            "name": node.name,
            "value": text,
            "type": self._type(node, value),
            "ref": node.ref if named or indexed else 0,
            "named": named,
            "indexed": indexed,
            "editable": not node.fixed,
        }
        if node.evaluate_name is not None:
            answer["evaluateName"] = node.evaluate_name
        attributes: list[str] = []
        if node.fixed:
            attributes.append("readOnly")
        if type(value) is str:
            attributes.append("rawString")
        if attributes:
            answer["attributes"] = attributes
        if _places.is_located(value):
            answer["location"] = node.ref
        return answer

    def _type(self, node: Node, value: Any) -> str:
        name = _display.type_text(value)
        parent = node.parent
        if parent is not None and parent.name == "Arguments" and parent.how == "root":
            call = self.hold.call
            args = parent.value()
            while call is not None and call.args is not args:
                call = call.parent
            if call is not None and call.adapter is not None:
                try:
                    return f"{name}, default" if call.adapter.is_default(call, node.key, value) else name
                except Exception:
                    return name  # Only a remark.
        return name

    # ------------------------------------------------------------ the app's own texts

    def _own_texts(self, values: list[Any]) -> dict[int, str]:
        """Texts by the objects' own `__repr__`, in one job with one time limit; what fails or is late shows its fields and the reason."""
        wanted = [value for value in values if _display.own_repr(value) and id(type(value)) not in self._slow][:200]
        found: dict[int, str] = {
            id(value): self._without(value, "its __repr__ is slow") for value in values if id(type(value)) in self._slow
        }
        if not wanted:
            return found
        current: list[Any] = []

        def work() -> None:
            for value in wanted:
                current[:] = [value]
                try:
                    text = repr(value)
                    text = str.__str__(text)
                    found[id(value)] = _display.own_text(
                        value,
                        text if len(text) <= _display.TEXT else f"{text[: _display.TEXT]}… ({len(text)} characters)",
                    )
                except TimeoutError:
                    raise
                except Exception as error:
                    found[id(value)] = self._without(value, f"its __repr__ raised {error_sentence(error)[:200]}")

        seconds = min(self.seconds, _TEXT_SECONDS)
        beside = getattr(self.hold, "run_beside", None)
        try:
            beside(work, seconds) if beside is not None else self.run(work, seconds)
        except TimeoutError:
            if current:
                late = current[0]
                self._slow[id(type(late))] = type(late)
                found[id(late)] = self._without(late, f"its __repr__ took longer than {seconds:g} s")
        except Exception as error:
            for value in wanted:
                found.setdefault(
                    id(value), self._without(value, f"its __repr__ could not run: {error_sentence(error)}")
                )
        return found

    def _without(self, value: Any, reason: str) -> str:
        return f"{_display.one_line(value)} ({reason})"

    def text(self, value: Any) -> str:
        """One value's line for an evaluation."""
        own = self._own_texts([value]).get(id(value))
        return own if own is not None else self._line(value)

    def _line(self, value: Any) -> str:
        text = _display.one_line(value, _display.TEXT if type(value) is str else _display.LINE)
        return text if any(_nodes.counts(value)) else _display.with_reason(value, text)

    # ------------------------------------------------------------ the rest of the requests

    def location(self, ref: int) -> dict[str, Any]:
        """Where the value of a node is defined: a file and lines."""
        try:
            value = self.node(ref).value()
        except Gone:
            raise UserError("This value is not there any more.") from None
        return _places.place_of(value)

    def data_info(self, ref: int, name: str) -> dict[str, str]:
        """Where a variable lies in the state; an empty path for what cannot be watched."""
        node = self.node(ref)
        if node.name == "Changes" and node.how == "rows" and name[:2] in ("+ ", "~ ", "- "):
            path = name[2:]
            return {"path": path, "description": f"state: {path}"}
        root = node.root()
        if root.name != "State" or root.how != "root":
            return {"path": "", "description": "Only parts of the workflow's state can be watched."}
        for (parent, how, known), place in list(self._refs.items()):
            if parent == ref and known == name and how != _nodes.MEMBER:
                path = path_text(place.steps())
                return {"path": path, "description": f"state: {path}"}
        return {"path": "", "description": "Only parts of the workflow's state can be watched."}

    def exception(self) -> dict[str, Any]:
        """ExceptionInfo of the call's error, read without running code."""
        error = self.hold.call.error
        if error is None:
            raise UserError("This call has no error.")
        return exception_info(error)

    def set_variable(self, ref: int, name: str, value: str, client: str = "") -> dict[str, Any]:
        from ._editing import set_variable

        return set_variable(self, ref, name, value, client)

    def set_expression(self, frame: int, expression: str, value: str, client: str = "") -> dict[str, Any]:
        from ._editing import set_expression

        return set_expression(self, frame, expression, value, client)

    def evaluate(
        self, expression: str, context: str = "watch", frame: int | None = None, client: str = ""
    ) -> dict[str, Any]:
        from ._evaluating import evaluate

        return evaluate(self, expression, context, frame, client)

    def completions(self, text: str, column: int, frame: int | None = None) -> list[dict[str, Any]]:
        from ._evaluating import completions

        return completions(self, text, column, frame)


def exception_info(error: BaseException, uncaught: bool = False, depth: int = 0) -> dict[str, Any]:
    kind = type(error)
    shape = _static.shape_of(kind)
    lines = [f'  File "{path}", line {line}, in {function}' for path, line, function in _errors.stack_of(error)]
    message = _display.error_message(error, shape)
    trace = (
        "\n".join(["Traceback (most recent call last):", *lines, f"{shape.name}: {message}" if message else shape.name])
        if lines
        else ""
    )
    info: dict[str, Any] = {
        "type": _static.short_name(kind).rpartition(".")[2],
        "fullType": shape.name,
        "message": message,
        "stackTrace": trace,
        "uncaught": uncaught,
    }
    _, cause = _errors.cause_of(error)
    if cause is not None and depth < 10 and cause is not error:
        info["inner"] = exception_info(cause, False, depth + 1)
    return info
