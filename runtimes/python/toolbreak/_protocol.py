"""Messages of the control socket. Generated from protocol/control.ts; do not edit."""

# fmt: off
# ruff: noqa
from __future__ import annotations

TYPE_CHECKING = False

PROTOCOL_VERSION = 1

if TYPE_CHECKING:
    from typing import Any, Dict, List, Literal, TypedDict, Union

    from typing_extensions import NotRequired

    CallKind = Literal['workflow', 'node', 'tool', 'llm', 'http', 'function', 'native']
    MemoryAccess = Literal['read', 'write', 'readWrite']
    Boundary = Literal['before', 'after', 'error', 'line']
    HoldReason = Literal['breakpoint', 'function breakpoint', 'data breakpoint', 'instruction breakpoint', 'exception', 'step', 'pause', 'entry', 'goto', 'restart']

    Joining = TypedDict(
        'Joining',
        {
            'maxValueBytes': int,
            'maxDepth': int,
            'maskKeys': List[str],
            'maskPatterns': List[str],
            'children': bool,
            'pid': int,
            'pidNamespace': 'NotRequired[str]',
        },
    )

    Breakpoint = TypedDict(
        'Breakpoint',
        {
            'id': int,
            'enabled': bool,
            'target': Union['SourceTarget', 'FunctionTarget', 'DataTarget', 'InstructionTarget', 'MemoryTarget'],
            'boundaries': List['Boundary'],
            'condition': 'NotRequired[str]',
            'hitCondition': 'NotRequired[str]',
            'logMessage': 'NotRequired[str]',
            'ignoreCount': 'NotRequired[int]',
            'group': 'NotRequired[str]',
            'holdSeconds': 'NotRequired[float]',
        },
    )

    SourceTarget = TypedDict(
        'SourceTarget',
        {
            'type': Literal['source'],
            'path': str,
            'line': int,
        },
    )

    FunctionTarget = TypedDict(
        'FunctionTarget',
        {
            'type': Literal['function'],
            'kind': 'NotRequired[CallKind]',
            'glob': str,
        },
    )

    DataTarget = TypedDict(
        'DataTarget',
        {
            'type': Literal['data'],
            'path': str,
        },
    )

    InstructionTarget = TypedDict(
        'InstructionTarget',
        {
            'type': Literal['instruction'],
            'reference': str,
            'offset': 'NotRequired[int]',
        },
    )

    MemoryTarget = TypedDict(
        'MemoryTarget',
        {
            'type': Literal['memory'],
            'data': str,
            'access': 'MemoryAccess',
        },
    )

    ExceptionFilter = TypedDict(
        'ExceptionFilter',
        {
            'filter': Literal['tool', 'model', 'validation', 'uncaught', 'fault', 'cpp_throw', 'cpp_catch'],
            'condition': 'NotRequired[str]',
        },
    )

    RecordSettings = TypedDict(
        'RecordSettings',
        {
            'enabled': bool,
            'functions': List[str],
            'maxValueBytes': int,
            'maxDepth': int,
            'maskKeys': List[str],
            'maskPatterns': List[str],
            'references': 'NotRequired[bool]',
            'output': 'NotRequired[bool]',
        },
    )

    NativeGates = TypedDict(
        'NativeGates',
        {
            'tracer': int,
            'loads': bool,
            'gate': 'NotRequired[Dict[str, Any]]',
        },
    )

    Frame = TypedDict(
        'Frame',
        {
            'id': int,
            'call': 'NotRequired[int]',
            'process': 'NotRequired[int]',
            'kind': Union['CallKind', Literal['source']],
            'name': str,
            'detail': str,
            'path': 'NotRequired[str]',
            'line': int,
            'column': 'NotRequired[int]',
            'endLine': 'NotRequired[int]',
            'instruction': 'NotRequired[str]',
            'subtle': bool,
            'canRestart': bool,
        },
    )

    ExceptionInfo = TypedDict(
        'ExceptionInfo',
        {
            'type': str,
            'fullType': str,
            'message': str,
            'stackTrace': str,
            'inner': 'NotRequired[ExceptionInfo]',
            'uncaught': bool,
        },
    )

    Configuration = TypedDict(
        'Configuration',
        {
            'generation': int,
            'breakpoints': List['Breakpoint'],
            'exceptions': List['ExceptionFilter'],
            'hold': Literal['task', 'all'],
            'stopOnEntry': bool,
            'justMyCode': bool,
            'record': 'RecordSettings',
            'evaluationSeconds': float,
            'unattended': 'NotRequired[bool]',
            'native': 'NotRequired[NativeGates]',
        },
    )

    BreakpointState = TypedDict(
        'BreakpointState',
        {
            'id': int,
            'verified': bool,
            'message': 'NotRequired[str]',
            'path': 'NotRequired[str]',
            'line': 'NotRequired[int]',
            'endLine': 'NotRequired[int]',
            'hits': 'NotRequired[int]',
        },
    )

    Release = TypedDict(
        'Release',
        {
            'hold': int,
            'action': Literal['continue', 'skip', 'again', 'restart', 'cancel'],
            'step': 'NotRequired[Literal[over, in, out]]',
            'granularity': 'NotRequired[Literal[statement, line, instruction]]',
            'single': 'NotRequired[bool]',
            'target': 'NotRequired[int]',
            'native': 'NotRequired[Dict[str, Any]]',
            'result': 'NotRequired[str]',
            'client': str,
        },
    )

    Scope = TypedDict(
        'Scope',
        {
            'name': str,
            'hint': 'NotRequired[str]',
            'ref': int,
            'named': 'NotRequired[int]',
            'indexed': 'NotRequired[int]',
            'expensive': bool,
        },
    )

    Variable = TypedDict(
        'Variable',
        {
            'name': str,
            'value': str,
            'type': 'NotRequired[str]',
            'ref': int,
            'named': 'NotRequired[int]',
            'indexed': 'NotRequired[int]',
            'evaluateName': 'NotRequired[str]',
            'editable': bool,
            'attributes': 'NotRequired[List[str]]',
            'kind': 'NotRequired[str]',
            'lazy': 'NotRequired[bool]',
            'memory': 'NotRequired[str]',
            'location': 'NotRequired[int]',
        },
    )

    TaskInfo = TypedDict(
        'TaskInfo',
        {
            'id': int,
            'name': str,
            'hold': 'NotRequired[int]',
            'where': str,
        },
    )

    Instruction = TypedDict(
        'Instruction',
        {
            'address': str,
            'bytes': 'NotRequired[str]',
            'text': str,
            'symbol': 'NotRequired[str]',
            'path': 'NotRequired[str]',
            'line': 'NotRequired[int]',
        },
    )

    ModuleInfo = TypedDict(
        'ModuleInfo',
        {
            'id': str,
            'name': str,
            'path': 'NotRequired[str]',
            'version': 'NotRequired[str]',
            'symbols': 'NotRequired[str]',
            'range': 'NotRequired[str]',
        },
    )

    Hello = TypedDict(
        'Hello',
        {
            'event': Literal['hello'],
            'version': int,
            'token': str,
            'runtime': str,
            'language': Literal['python', 'native'],
            'languageVersion': str,
            'pid': int,
            'parentPid': int,
            'process': str,
            'name': str,
            'argv': List[str],
            'cwd': str,
            'executable': str,
            'frameworks': List[Dict[str, Any]],
        },
    )

    HeldEvent = TypedDict(
        'HeldEvent',
        {
            'event': Literal['held'],
            'hold': 'Hold',
            'along': 'NotRequired[List[Hold]]',
        },
    )

    Hold = TypedDict(
        'Hold',
        {
            'id': int,
            'task': int,
            'taskName': str,
            'call': 'NotRequired[int]',
            'boundary': 'Boundary',
            'reason': 'HoldReason',
            'description': str,
            'text': 'NotRequired[str]',
            'breakpoints': List[int],
            'frames': List['Frame'],
            'moreFrames': 'NotRequired[bool]',
            'framesFollow': 'NotRequired[bool]',
            'whole': 'NotRequired[bool]',
            'native': 'NotRequired[bool]',
            'thread': 'NotRequired[int]',
        },
    )

    FramesEvent = TypedDict(
        'FramesEvent',
        {
            'event': Literal['frames'],
            'hold': int,
            'task': int,
            'frames': List['Frame'],
            'moreFrames': bool,
        },
    )

    ResumedEvent = TypedDict(
        'ResumedEvent',
        {
            'event': Literal['resumed'],
            'hold': int,
            'task': int,
            'why': Literal['release', 'deadline', 'cancelled'],
        },
    )

    BreakpointsEvent = TypedDict(
        'BreakpointsEvent',
        {
            'event': Literal['breakpoints'],
            'breakpoints': List['BreakpointState'],
        },
    )

    LogEvent = TypedDict(
        'LogEvent',
        {
            'event': Literal['log'],
            'category': Literal['console', 'important', 'stderr'],
            'text': str,
            'path': 'NotRequired[str]',
            'line': 'NotRequired[int]',
        },
    )

    OutputEvent = TypedDict(
        'OutputEvent',
        {
            'event': Literal['output'],
            'stream': Literal['stdout', 'stderr'],
            'text': str,
            'wall': 'NotRequired[int]',
        },
    )

    TaskEvent = TypedDict(
        'TaskEvent',
        {
            'event': Literal['task'],
            'task': int,
            'name': str,
            'change': Literal['started', 'exited'],
        },
    )

    RecordEvent = TypedDict(
        'RecordEvent',
        {
            'event': Literal['record'],
            'name': str,
            'data': 'Record<string,unknown>',
        },
    )

    NativeReadyEvent = TypedDict(
        'NativeReadyEvent',
        {
            'event': Literal['native'],
            'kind': Literal['ready'],
            'version': List[int],
            'runtime': int,
            'context': int,
            'threads': int,
            'gate': int,
            'overtaken': int,
            'library': str,
            'own': str,
        },
    )

    NativeLoadEvent = TypedDict(
        'NativeLoadEvent',
        {
            'event': Literal['native'],
            'kind': Literal['load'],
            'id': int,
            'path': str,
        },
    )

    ByeEvent = TypedDict(
        'ByeEvent',
        {
            'event': Literal['bye'],
            'exitCode': 'NotRequired[int]',
        },
    )
