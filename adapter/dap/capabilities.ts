import type { DebugProtocol } from '@vscode/debugprotocol';

const condition = {
  supportsCondition: true,
  conditionDescription: "An expression over args, state, error and call, such as error.args[0] == 'timeout'",
};

const FILTERS: DebugProtocol.ExceptionBreakpointsFilter[] = [
  { filter: 'tool', label: 'Tool Errors', description: 'Stop when a tool raises an error.', ...condition },
  { filter: 'model', label: 'Model Errors', description: 'Stop when a model call or its API fails.', ...condition },
  {
    filter: 'validation',
    label: 'Validation Errors',
    description: "Stop when arguments do not fit a tool's own schema.",
    ...condition,
  },
  {
    filter: 'uncaught',
    label: 'Uncaught Errors',
    description: 'Stop before an error ends the run.',
    default: true,
    ...condition,
  },
];

const FAULT: DebugProtocol.ExceptionBreakpointsFilter = {
  filter: 'fault',
  label: 'Native Faults',
  description: 'Stop where C or C++ code under Python crashes; lldb-dap is attached to the app as soon as it starts.',
};

/** Native code under Python is debugged where frames of both are put together: in 64 bits on Linux. */
export function filtersOn(platform: string, arch: string): DebugProtocol.ExceptionBreakpointsFilter[] {
  return platform === 'linux' && /64/.test(arch) ? [...FILTERS, FAULT] : FILTERS;
}

/** What every session can do. Stepping back is not among it: there is no past to step into while the app runs. */
export const CAPABILITIES: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsDataBreakpoints: true,
  supportsBreakpointLocationsRequest: true,
  breakpointModes: [
    {
      mode: 'before',
      label: 'Before',
      description: 'Stop before the call runs; its arguments can be changed.',
      appliesTo: ['source'],
    },
    {
      mode: 'after',
      label: 'After',
      description: 'Stop when the call returned; its result can be changed.',
      appliesTo: ['source'],
    },
    {
      mode: 'before and after',
      label: 'Before and After',
      description: 'Stop on both sides of the call.',
      appliesTo: ['source'],
    },
    { mode: 'error', label: 'Error', description: 'Stop when the call fails.', appliesTo: ['source'] },
  ],
  exceptionBreakpointFilters: filtersOn(process.platform, process.arch),
  supportsExceptionFilterOptions: true,
  supportsExceptionInfoRequest: true,
  supportsEvaluateForHovers: true,
  supportsClipboardContext: true,
  supportsSetVariable: true,
  supportsSetExpression: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: ['.', '[', '"', "'"],
  supportsRestartFrame: true,
  supportsGotoTargetsRequest: true,
  supportsStepInTargetsRequest: true,
  supportsSingleThreadExecutionRequests: true,
  supportsLoadedSourcesRequest: true,
  supportsTerminateThreadsRequest: true,
  supportsTerminateRequest: true,
  supportTerminateDebuggee: true,
  supportsRestartRequest: true,
  supportsCancelRequest: true,
};

const CPP_FILTERS: DebugProtocol.ExceptionBreakpointsFilter[] = [
  { filter: 'cpp_throw', label: 'C++: Throw', description: 'Stop where native code throws an exception.' },
  { filter: 'cpp_catch', label: 'C++: Catch', description: 'Stop where native code catches an exception.' },
];

/** What a session can do besides once native code is debugged in it; told by an event then. */
export const NATIVE_CAPABILITIES: DebugProtocol.Capabilities = {
  supportsInstructionBreakpoints: true,
  supportsDataBreakpointBytes: true,
  supportsReadMemoryRequest: true,
  supportsWriteMemoryRequest: true,
  supportsDisassembleRequest: true,
  supportsModulesRequest: true,
  supportsSteppingGranularity: true,
  exceptionBreakpointFilters: [...(CAPABILITIES.exceptionBreakpointFilters ?? []), ...CPP_FILTERS],
};

/** The answer to `initialize`. Editors show the filters of that alone, so those of native code are in it where it is known what will be debugged. */
export function firstCapabilities(native: boolean): DebugProtocol.Capabilities {
  return native ? { ...CAPABILITIES, ...NATIVE_CAPABILITIES, exceptionBreakpointFilters: CPP_FILTERS } : CAPABILITIES;
}
