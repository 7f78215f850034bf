"""The short way of a guarded function's call: it is recorded, nothing stops it, and nothing about it is special.

`enter`, `leave` and `exit` are generated with the function's own parameters, in one piece, since every call of a helper would cost a twentieth of
the whole. Whatever is not plain goes the long way, `Guard.long_enter` and `Guard.long_exit`, which does the same and more; what is done here has
to be done there as well. So it is with frames, values and places in a spool file, and `_spool` and `_values`. Where there is the compiled part, its
`Way` stands before all three, and does the same for what is plainest.

What a signal handler raises in the middle of `enter` leaves the call among those that run, in `live`, until `Guard.lost` has ended it. At its
end, all that is read elsewhere (the frame, its place in the file, the task) is stored without a call or a jump in between: it is over or it is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from marshal import dumps
from typing import TYPE_CHECKING, Any
from zlib import crc32

from . import _calls, _optional, _report, _short_calls
from ._call_types import PlainCall, ShortCall, nowhere
from ._large import is_noted
from ._real import Real

if TYPE_CHECKING:
    from ._guard_state import Guard
    from ._values import Settings

# What `_values` writes as it stands. Larger numbers are not told apart here, since small ones compare quicker.
_PLAIN = (
    "{kind} is str and (len({value}) <= settings.short or len({value}) < 1024 and {value} in settings.clean)"
    " or {kind} is int and -1073741823 < {value} < 1073741823 or {value} is None or {kind} is bool or {kind} is float"
)

# `_spool.Spool._append` where compiled code does not do it, for a payload that has room where this thread writes; else `call.recorded` stays what it was.
_APPEND = """
segment.busy = True
try:
    place = segment.place
    begin = place + 8
    after = begin + length
    if after <= segment.end:
        word = place >> 2
        segment.map[begin:after] = payload
        segment.checksums[word] = checksum
        segment.words[word] = length
        segment.place = (after + 3) & -4
        {stored}
finally:
    segment.busy = False
"""

# The end of a function is in the thread of its start, and the file of the start is that of the end as long as it has room. A generator
# may end in any thread.
_GENERATOR = """
try:
    segment = writer.local.segment if function.known is writer.known else nowhere
except AttributeError:
    segment = nowhere
"""

# Of a call that compiled code may have begun.
_NO_LONGER_GIVEN = """
call.given = ()
if type(call) is PlainCall:
    call.token = None
"""

# A generator that is run by another one may be what that one gave itself up to.
_DELEGATED = "(frame.f_back is not None and frame.f_back.f_code.co_flags & 0x20) or "

_ENTER = """
def enter({parameters}):
    frame = get_frame(1)
    back = get()
    if back is None:
        owner = getattr(roots, "root", None)
        if owner is None:
            return long(frame, ({values}))
        above = 0
        segment = owner.segment
    else:
        segment = None
        owner = back
        if back.frame is None and not is_plain(back, guard):
            return long(frame, ({values}))
        above = back.number
    function = guard._function
    writer = calls.writer
    if (
        owner.busy or {delegated}(live and frame in live) or function is None
        or (function.before is not None and guard.wants({values})) or function.generation != stops.generation or stops.special or stops.stop_byte[0] or writer is None or not calls.attached
    ):
        return long(frame, ({values}))
    try:
        args = {{{arguments}}}
        settings = writer.settings
        rules = settings.rules
        if rules is None:
            encoded = args if settings is plain_in{plain} else encode_args(settings, args)
        task = owner.task
        call = new(ShortCall)
        call.function = function
        call.args = args
        {given}
        call.parent = call.back = back
        call.raised = call.stashed = None
        call.task = task
        call.owner = owner
        call.frame = frame
        call.busy = None
        call.ended = False
        call.recorded = 0
        call.segment = nowhere
        call.short = True
        call.number = number = next(calls._numbers)
        call.started_ns = started = now()
        busy = owner.busy
        owner.busy = [*busy, call] if busy else [call]
        task.calls += 1
        task.innermost = live[frame] = call
        set(call)
        known = writer.known
        if segment is None:
            try:
                segment = writer.local.segment
            except AttributeError:
                segment = nowhere
        if segment.known is not known or function.known is not known or task.known is not known or writer.ended:
            pass
        elif rules is not None:
            if not segment.put(rules, call, 1, (3, number, above, function.id, task.id, started, args, None)):
                call.segment = segment
        elif encoded is not None:
            payload = dumps((3, number, above, function.id, task.id, started, encoded, None), 2)
            length = len(payload)
            checksum = crc32(payload)
            # Asked again: a handler that ran meanwhile may have forked.
            if segment.known is writer.known and not segment.busy and length <= writer.largest:
                {append}
                if length > 4096 and call.recorded:
                    writer.large.note(args, encoded, True)
        if not call.recorded:
            writer.start(call)
            if back is None:
                owner.segment = getattr(writer.local, "segment", nowhere)
        elif segment.waiting:
            writer.drain(segment)
        if calls.lets_go and call.recorded:
            call.args = {{}}
            call.given = ()
    except RecursionError:
        pass
    except BaseException as error:
        if is_the_apps(error):
            raise
        failure(error)
    return True
"""

# For `leave` and `exit`: they differ in where the value is, and what is to be done where the call cannot end here.
_END = """
def {name}({value}):
    try:
        frame = get_frame(1)
        call = get()
        if call is None or call.frame is not frame:
            {elsewhere}
        function = call.function
        writer = calls.writer
        if (
            not call.short or {raised}function.after is not None or function.generation != stops.generation or stops.special or stops.stop_byte[0]
            or writer is None or writer.ended
        ):
            {otherwise}
        {take}
    except RecursionError:
        return {result}
    try:
        ended = now()
        settings = writer.settings
        rules = settings.rules
        if rules is None:
            kind = type(value)
            # Without a frame: a recursion that comes back from its limit had room for the start, and for no more.
            if id(value) in settings.noted:
                encoded = None
            elif kind is dict and len(value) < 50:
                encoded = value.copy()
                harmless = settings.harmless
                for name, item in encoded.items():
                    kind = type(item)
                    if type(name) is not str or name not in harmless or not ({plain_item}):
                        encoded = settings.encode(value)
                        break
            elif {plain}:
                encoded = value
            else:
                encoded = settings.encode(value)
            payload = dumps((4, call.number, ended, 0, encoded, None), 2)
            # What is noted is for `Writer.end`.
            length = len(payload) if encoded is not None or value is None else writer.largest + 1
            checksum = crc32(payload)
        owner = call.owner
        task = call.task
        back = call.back
        innermost = back if back is not None and back.task is task else None
        only = [call]
        {segment}
        if (
            call.recorded and segment.known is writer.known and (rules is not None or not segment.busy and length <= writer.largest)
            and owner.busy == only and (task.calls > 1 or task.parent is None) and (back is None or not back.ended)
        ):
            if rules is None:
                {append}
            elif not segment.put(rules, call, 2, (4, call.number, ended, 0, value, None)):
                {stored}
            if call.ended:
                if rules is None and length > 4096:
                    writer.large.note(value, encoded, False)
                set(back)
                del live[frame]
                call.frame = call.back = None
                {no_longer_given}
                call.args = {{}}
                if segment.waiting:
                    writer.drain(segment)
                return {result}
    except BaseException as error:
        if call.ended:
            lose(frame)
        if is_the_apps(error):
            raise
        failure(error)
    if call.ended:
        return {result}
    try:
        {last}
    except RecursionError:
        return {result}
"""


def _is_plain(back: Any, guard: Guard) -> bool:
    """Whether a call inside `back`, which is a framework's call, is one of its own."""
    if back.quiet or back.ended:
        return False
    pending = back.pending
    if pending is None:
        return back.function.path != guard.spot.path
    return pending[1] != guard.spot.line and pending[1] != guard.spot.first


def make(
    guard: Guard,
) -> tuple[Callable[..., bool], Callable[[Any], Any], Callable[[], bool], Callable[[Any], Any], Callable[[], None]]:
    """`enter`, `leave`, `exit`, `stash` and `failed` of one guard."""
    names = guard.names
    parameters = [f"_{index}" for index in range(len(names))]
    if guard.in_library:
        return _long(guard, parameters)
    shown = list(zip(names, parameters))[1 if guard.is_method() else 0 :]
    seen: Any = None

    def encode_args(settings: Settings, args: dict[str, Any]) -> Any:
        """Also looks, once for every configuration, whether the names of the parameters say anything about their values."""
        nonlocal seen
        if settings is not seen:
            settings.encode(dict.fromkeys(args))
            scope["plain_in"] = settings if settings.harmless.issuperset(args) else None
            seen = settings
        if settings.noted and is_noted(settings, args.values()):
            return None  # For `Writer.start`.
        return settings.encode(args)

    scope: dict[str, Any] = {
        "PlainCall": PlainCall,
        "ShortCall": ShortCall,
        "calls": _calls,
        "crc32": crc32,
        "dumps": dumps,
        "encode_args": encode_args,
        "failure": _report.failure,
        "get": _calls._current.get,
        "get_frame": sys._getframe,
        "guard": guard,
        "is_plain": _is_plain,
        "is_the_apps": _report.is_the_apps,
        "live": guard.live,
        "long": guard.long_enter,
        "long_exit": guard.long_exit,
        "lose": guard.lose,
        "new": object.__new__,
        "now": Real.monotonic_ns,
        "nowhere": nowhere,
        # The settings in which no parameter's name says anything about its value.
        "plain_in": None,
        "roots": _calls._roots,
        "set": _calls.set_current,
        "stops": _calls.stopping,
    }
    is_compiled = not guard.is_generator and not guard.is_async and _short_calls.ready(type(guard))
    values = "".join(f"{name}, " for name in parameters)
    enters = _ENTER.format(
        delegated=_DELEGATED if guard.is_generator else "",
        parameters=", ".join(parameters),
        values=values,
        arguments=", ".join(f"{name!r}: {parameter}" for name, parameter in shown),
        plain="".join(f" and ({_PLAIN.format(kind=f'type({name})', value=name)})" for _, name in shown),
        # Else what was given are the arguments, in their order.
        given=f"call.given = ({values})" if guard.is_method() else "call.given = ()",
        append=_append("call.recorded = 1\ncall.segment = segment", 4),
    )
    stored = "call.recorded = 2\ncall.ended = True\nowner.busy = None\ntask.calls -= 1\ntask.innermost = innermost"
    both = {
        "append": _append(stored, 4),
        "stored": _indented(stored, 4),
        "segment": _indented(_GENERATOR if guard.is_generator else "segment = call.segment", 2),
        "no_longer_given": _indented(_NO_LONGER_GIVEN, 4)
        if is_compiled
        else "call.given = ()"
        if guard.is_method()
        else "",
        "plain": _PLAIN.format(kind="kind", value="value"),
        "plain_item": _PLAIN.format(kind="kind", value="item"),
    }
    leaves = _END.format(
        name="leave",
        value="value",
        take="",
        raised="",
        elsewhere=_indented("run = live.get(frame)\nif run is not None:\n    run.stashed = value\nreturn value", 3),
        otherwise=_indented("call.stashed = value\nreturn value", 3),
        last=_indented("call.stashed = value\nreturn value", 2),
        result="value",
        **both,
    )
    exits = _END.format(
        name="exit",
        value="",
        take="value = call.stashed",
        raised="call.raised is not None or ",
        elsewhere="return long_exit(frame) if frame in live else False",
        otherwise="return long_exit(frame)",
        last="return long_exit(frame)",
        result="False",
        **both,
    )
    exec(compile(enters + leaves + exits, __file__, "exec"), scope)
    enter, leave, exit = scope["enter"], scope["leave"], scope["exit"]
    if not is_compiled:
        return enter, leave, exit, guard.long_stash, guard.long_failed
    way = _optional.Way(guard, guard.live, tuple(names), guard.is_method(), enter, leave, exit)
    return way.enter, way.leave, way.exit, way.stash, way.failed


def _long(guard: Guard, parameters: list[str]) -> Any:
    """The long way alone."""
    get_frame = sys._getframe
    scope: dict[str, Any] = {"get_frame": get_frame, "long": guard.long_enter}
    values = "".join(f"{name}, " for name in parameters)
    text = f"def enter({', '.join(parameters)}):\n    return long(get_frame(1), ({values}))"
    exec(compile(text, __file__, "exec"), scope)
    return scope["enter"], guard.long_stash, lambda: guard.long_exit(get_frame(1)), guard.long_stash, guard.long_failed


def _append(stored: str, steps: int) -> str:
    if sys.byteorder == "big":
        return "pass"  # `_spool` does it.
    return _indented(_APPEND.format(stored=_indented(stored, 2)), steps)


def _indented(text: str, steps: int) -> str:
    return text.strip().replace("\n", "\n" + "    " * steps)
