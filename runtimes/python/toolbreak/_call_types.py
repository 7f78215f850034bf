"""What the runtime speaks of: functions, calls, tasks, and why one stops."""

from __future__ import annotations

from types import CodeType
from typing import Any

Args = dict[str, Any]

#: What `enter`, `leave` and `fail` answer.
RUN, SKIP, AGAIN, RAISE, RETURN = range(5)
#: Status of an ended call, as in the spool.
RETURNED, ERROR, CANCELLED, SKIPPED = range(4)
#: 4 is what the adapter says of calls that ended with their process.
INTERRUPTED = 5


class Stopping:
    """What decides that a call without breakpoints does not stop; `_stops` keeps it, guards read it."""

    __slots__ = ("generation", "special", "stop_byte")

    def __init__(self) -> None:
        #: Of the breakpoint table; a function's breakpoints were compiled for one.
        self.generation = 0
        #: True while something other than breakpoints may stop a call.
        self.special = False
        #: The mapped stop file: first byte 1 stops every task at its next boundary.
        self.stop_byte: Any = b"\0"


def with_class(qualname: str) -> str:
    """`Agent.run` of `make.<locals>.Agent.run`, `run` of what is no method."""
    return ".".join(qualname.rpartition("<locals>.")[2].split(".")[-2:])


def shown_name(kind: str, name: str, qualname: str, module: str) -> str:
    """What people call a function: a method with its class (`Agent.run`), whatever it is inside. As `shownName` of the adapter's store says it."""
    own = with_class(qualname)
    owner, _, last = own.rpartition(".")
    if kind != "function" or not owner or last != name:
        return name
    # Where no module is known, the part before the name may be one.
    return own if module or owner.lstrip("_")[:1].isupper() else name


class Function:
    """What is called: a tool, node, workflow, model or plain function. Interned: equal keys give the same object."""

    __slots__ = (
        "after",
        "before",
        "end_line",
        "error",
        "generation",
        "id",
        "kind",
        "known",
        "line",
        "module",
        "name",
        "path",
        "qualname",
        "user",
    )

    def __init__(
        self, id: int, kind: str, name: str, qualname: str, module: str, path: str | None, line: int, end_line: int
    ) -> None:
        self.id = id
        self.kind = kind
        self.name = name
        self.qualname = qualname
        self.module = module
        self.path = path
        self.line = line
        self.end_line = end_line
        #: Breakpoints that may stop here, compiled by `_stops` for `generation`.
        self.before: Any = None
        self.after: Any = None
        self.error: Any = None
        self.generation = -1
        #: What the recording that has its name is told by: `Writer.known`.
        self.known: Any = None
        #: Whether a person wrote it, as far as its path says; None: not looked at yet.
        self.user: bool | None = None

    @property
    def shown(self) -> str:
        return shown_name(self.kind, self.name, self.qualname, self.module)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.qualname}>"


class Task:
    """One logical line of execution, a thread in the debugger's window."""

    __slots__ = ("calls", "gone", "hold", "id", "innermost", "known", "name", "named", "parent", "pause", "since")

    def __init__(self, id: int, name: str, parent: Task | None) -> None:
        self.id = id
        self.name = name
        self.parent = parent
        #: Calls in flight on it, counted.
        self.calls = 0
        self.innermost: Call | None = None
        #: The hold it waits in.
        self.hold: Any = None
        #: Stop at the next call.
        self.pause = False
        self.named = parent is not None
        self.since = 0
        #: Its end is told, or about to be.
        self.gone = False
        #: As with a function.
        self.known: Any = None


class CallAdapter:
    """What a framework tells about its calls. Every method is optional and guarded: an exception counts as "nothing to say"."""

    def check_args(self, call: Call, name: str, value: Any) -> Any:
        """The value as the tool's schema takes it. Raises ValueError with a sentence where it refuses."""
        return value

    def check_result(self, call: Call, value: Any) -> Any:
        return value

    def check_state(self, call: Call, value: Any) -> Any:
        return value

    def returned(self, call: Call, result: Any) -> None:
        """Called before the `after` boundary: fill in `call.state` and `call.changes`."""

    def left(self, call: Call, pieces: list[Any]) -> None:
        """Called where a call that gives its result bit by bit ends before its last piece."""

    def detail(self, call: Call) -> str:
        """`node, step 2`; the boundary is added by the frame list."""
        return ""

    def step_targets(self, call: Call) -> list[tuple[int, str, int]]:
        """(id, label, line) of the parallel calls this call is about to make; `call.step_target` holds the chosen id."""
        return []

    def is_default(self, call: Call, name: str, value: Any) -> bool:
        """Whether an argument has the value that the function gives it by itself."""
        return False

    def messages(self, call: Call) -> list[Any] | None:
        return None

    def location(self, call: Call) -> tuple[str, int] | None:
        return None

    def applied_state(self, call: Call, value: Any) -> None:
        """Writes an edited state back to where the framework keeps it."""


_NO_ATTRIBUTES: dict[str, Any] = {}


class Call:
    """One execution of a function. Attributes that are not set yet are class attributes: making a call stays cheap."""

    adapter: CallAdapter | None = None
    attributes: dict[str, Any] = _NO_ATTRIBUTES
    result: Any = None
    error: BaseException | None = None
    #: The workflow state this call sees, live; None where there is none.
    state: Any = None
    #: A copy from before the call, for the difference and for data breakpoints.
    state_before: Any = None
    #: What the node wrote: channel or key to value.
    changes: dict[str, Any] | None = None
    #: Where the call is: '' while it runs, else 'before', 'after' or 'error'.
    boundary = ""
    edited = False
    skipped = False
    ended = False
    suspended = False
    #: `restart`: stop again at `before`; `go`: do not stop there once.
    forced = ""
    #: Breakpoint ids whose hit was counted for this call already.
    counted: tuple[int, ...] = ()
    #: Key of the user code this call is about to run; its guard then makes no call of its own. See `expect`.
    pending: tuple[str, int, str] | None = None
    #: The chosen step-in target.
    step_target: int | None = None
    #: The frame of the guarded function, while it runs.
    frame: Any = None
    #: Of a guarded function: its arguments (empty: those of `args`), what it is about to return or raised, and whether it is to run once more.
    given: tuple[Any, ...] = ()
    stashed: Any = None
    raised: BaseException | None = None
    again = False
    #: Steps that wait for this call, used by `_stops`.
    step: Any = None
    busy: list[Call] | None = None
    #: What the recording has of it: nothing, its start, its end.
    recorded = 0
    #: What was current before this call began or went on.
    back: Call | None = None
    #: An error that was shown at a call inside this one already.
    seen_error: BaseException | None = None
    #: Which step-in target of its parent this call is; set by frameworks.
    step_id: int | None = None
    #: How many attributes its start was recorded with; -1 once one was set since.
    told = -1
    #: True for the stand-in under which conditions and evaluations run: nothing inside is a call.
    quiet = False
    #: Whether it went the short way of a guarded function until now, and may end so. See `_quick`.
    short = False

    def __init__(self, function: Function, args: Args, parent: Call | None, number: int) -> None:
        self.number = number
        self.function = function
        self.args = args
        self.parent = parent
        self.task: Task = None  # type: ignore[assignment]
        self.started_ns = 0
        self.owner: Any = None

    @property
    def kind(self) -> str:
        return self.function.kind

    @property
    def name(self) -> str:
        return self.function.name

    def expect(self, target: Any) -> None:
        """This call is about to run `target` (a function, method or code object): a dot on its `def` means this call, not another one."""
        self.pending = code_key(target)

    def set(self, **attributes: Any) -> None:
        """Adds attributes: model, tokens and the like, with OpenTelemetry's GenAI names where these exist."""
        if self.attributes is _NO_ATTRIBUTES:
            self.attributes = {}
        self.attributes.update(attributes)
        self.told = -1
        self.short = False

    def let_go(self) -> None:
        """After its end, when all is handed over: contexts of tasks that began in it keep the call, not what it worked on."""
        self.args = {}
        self.given = ()
        self.result = self.error = self.seen_error = None

    def __repr__(self) -> str:
        return f"<call {self.number} {self.function.kind} {self.function.name}>"


class _Nowhere:
    """Stands for a spool file that is nobody's: nothing is appended there."""

    __slots__ = ()
    known = None


nowhere = _Nowhere()


class ShortCall(Call):
    """A call that `_quick` makes. It has places for what every one of them has, which are filled in half the time that a dict takes."""

    __slots__ = (
        "args",
        "back",
        "busy",
        "ended",
        "frame",
        "function",
        "given",
        "number",
        "owner",
        "parent",
        "raised",
        "recorded",
        "segment",
        "short",
        "started_ns",
        "stashed",
        "task",
    )


def let_go_of_arguments(call: Any) -> None:
    """They are recorded, and nobody can ask for them any more: the app's own references alone keep them alive."""
    call.args = {}
    call.given = ()


class PlainCall(ShortCall):
    """A call that compiled code begins. Mostly nobody asks for its arguments: they are made into a dict for those who do."""

    __slots__ = ("shown", "token")

    #: The parameters that are shown, the last ones of what is in `given`.
    shown: tuple[str, ...]
    #: While it runs: what the context has for the time before it.
    token: Any

    def _args(self) -> Args:
        try:
            return _ARGS.__get__(self)  # type: ignore[no-any-return]
        except AttributeError:
            pass
        given = self.given
        args: Args = dict(zip(self.shown, given[len(given) - len(self.shown) :])) if given else {}
        _ARGS.__set__(self, args)
        if self.ended:  # Meanwhile: another thread asks.
            _ARGS.__set__(self, {})
        return args


_ARGS: Any = vars(ShortCall)["args"]
PlainCall.args = property(PlainCall._args, _ARGS.__set__)  # type: ignore[assignment]


class OuterCall(Call):
    """A workflow's call. What compiled code looks at when it begins a call inside this one has places of its own."""

    __slots__ = ("busy", "ended", "function", "number", "pending", "quiet", "task")

    def __init__(self, function: Function, args: Args, parent: Call | None, number: int) -> None:
        super().__init__(function, args, parent, number)
        self.busy = None
        self.ended = False
        self.pending = None
        self.quiet = False


class StepCall(Call):
    """A node's call that compiled code makes: it fills all these places."""

    __slots__ = (
        "adapter",
        "args",
        "back",
        "changes",
        "ended",
        "function",
        "number",
        "owner",
        "parent",
        "pending",
        "recorded",
        "started_ns",
        "state",
        "state_before",
        "task",
        "tells",
        "told",
    )

    #: Names and values in turn: the attributes that it began with.
    tells: tuple[Any, ...]

    @property
    def attributes(self) -> dict[str, Any]:  # type: ignore[override]
        """Mostly nobody asks for them. Of two threads that do so at once both get the same."""
        if "made" not in self.__dict__:
            self.__dict__.setdefault("made", dict(zip(self.tells[::2], self.tells[1::2])))
        made: dict[str, Any] = self.__dict__["made"]
        return made


class Stop:
    """Why a task stops at a boundary."""

    def __init__(
        self,
        boundary: str,
        reason: str,
        breakpoints: list[int] | None = None,
        *,
        text: str = "",
        seconds: float | None = None,
        uncaught: bool = False,
        frame: Any = None,
    ) -> None:
        self.boundary = boundary
        self.reason = reason
        self.breakpoints: list[int] = [] if breakpoints is None else breakpoints
        self.text = text
        #: Released by itself after this time.
        self.seconds = seconds
        self.uncaught = uncaught
        #: Where a line is held, boundary `line`: the frame, its file and the line.
        self.frame = frame
        self.path = ""
        self.line = 0


def code_of(target: Any) -> CodeType | None:
    """The code object behind a callable. None: no Python code."""
    for _ in range(20):
        if isinstance(target, CodeType):
            return target
        inner = (
            getattr(target, "__wrapped__", None) or getattr(target, "__func__", None) or getattr(target, "func", None)
        )
        target = inner if inner is not None and inner is not target else getattr(target, "__code__", None)
        if target is None:
            return None
    return None


def code_key(target: Any) -> tuple[str, int, str] | None:
    """(file, first line, name) of the code behind a callable; survives the swap of a code object. None: no Python code."""
    code = code_of(target)
    return None if code is None else (code.co_filename, code.co_firstlineno, code.co_name)
