import type { DebugProtocol as P } from '@vscode/debugprotocol';

interface R<A, B> {
  arguments: A;
  body: B;
}
type Nothing = object | undefined;

/** What may be asked of a delegate: arguments and answer. */
export interface DelegateRequests {
  initialize: R<P.InitializeRequestArguments, P.Capabilities>;
  launch: R<Record<string, unknown>, Nothing>;
  attach: R<Record<string, unknown>, Nothing>;
  configurationDone: R<Record<string, never>, Nothing>;
  disconnect: R<P.DisconnectArguments, Nothing>;
  terminate: R<P.TerminateArguments, Nothing>;
  setBreakpoints: R<P.SetBreakpointsArguments, P.SetBreakpointsResponse['body']>;
  setFunctionBreakpoints: R<P.SetFunctionBreakpointsArguments, P.SetFunctionBreakpointsResponse['body']>;
  setExceptionBreakpoints: R<P.SetExceptionBreakpointsArguments, Nothing>;
  setInstructionBreakpoints: R<P.SetInstructionBreakpointsArguments, P.SetInstructionBreakpointsResponse['body']>;
  setDataBreakpoints: R<P.SetDataBreakpointsArguments, P.SetDataBreakpointsResponse['body']>;
  dataBreakpointInfo: R<P.DataBreakpointInfoArguments, P.DataBreakpointInfoResponse['body']>;
  breakpointLocations: R<P.BreakpointLocationsArguments, P.BreakpointLocationsResponse['body']>;
  threads: R<Record<string, never>, P.ThreadsResponse['body']>;
  stackTrace: R<P.StackTraceArguments, P.StackTraceResponse['body']>;
  scopes: R<P.ScopesArguments, P.ScopesResponse['body']>;
  variables: R<P.VariablesArguments, P.VariablesResponse['body']>;
  setVariable: R<P.SetVariableArguments, P.SetVariableResponse['body'] & { result?: string }>;
  setExpression: R<P.SetExpressionArguments, P.SetExpressionResponse['body']>;
  evaluate: R<P.EvaluateArguments, P.EvaluateResponse['body']>;
  completions: R<P.CompletionsArguments, P.CompletionsResponse['body']>;
  exceptionInfo: R<P.ExceptionInfoArguments, P.ExceptionInfoResponse['body']>;
  continue: R<P.ContinueArguments, P.ContinueResponse['body'] | undefined>;
  next: R<P.NextArguments, Nothing>;
  stepIn: R<P.StepInArguments, Nothing>;
  stepOut: R<P.StepOutArguments, Nothing>;
  stepInTargets: R<P.StepInTargetsArguments, P.StepInTargetsResponse['body']>;
  pause: R<P.PauseArguments, Nothing>;
  source: R<P.SourceArguments, P.SourceResponse['body']>;
  modules: R<P.ModulesArguments, P.ModulesResponse['body']>;
  readMemory: R<P.ReadMemoryArguments, P.ReadMemoryResponse['body']>;
  writeMemory: R<P.WriteMemoryArguments, P.WriteMemoryResponse['body']>;
  disassemble: R<P.DisassembleArguments, P.DisassembleResponse['body']>;
  cancel: R<P.CancelArguments, Nothing>;
}
export type DelegateCommand = keyof DelegateRequests;

/** What a delegate must say it can do before it is asked: some end on a request they do not know. Every delegate knows the others. */
export const CAPABILITY_OF: { readonly [C in DelegateCommand]?: keyof P.Capabilities } = {
  configurationDone: 'supportsConfigurationDoneRequest',
  terminate: 'supportsTerminateRequest',
  setFunctionBreakpoints: 'supportsFunctionBreakpoints',
  setInstructionBreakpoints: 'supportsInstructionBreakpoints',
  setDataBreakpoints: 'supportsDataBreakpoints',
  dataBreakpointInfo: 'supportsDataBreakpoints',
  breakpointLocations: 'supportsBreakpointLocationsRequest',
  setVariable: 'supportsSetVariable',
  setExpression: 'supportsSetExpression',
  completions: 'supportsCompletionsRequest',
  exceptionInfo: 'supportsExceptionInfoRequest',
  stepInTargets: 'supportsStepInTargetsRequest',
  modules: 'supportsModulesRequest',
  readMemory: 'supportsReadMemoryRequest',
  writeMemory: 'supportsWriteMemoryRequest',
  disassemble: 'supportsDisassembleRequest',
  cancel: 'supportsCancelRequest',
};

/** Answers that are lists: one without its list is nonsense, and nobody behind has to look. */
export const LIST_OF: { readonly [C in DelegateCommand]?: string } = {
  setBreakpoints: 'breakpoints',
  setFunctionBreakpoints: 'breakpoints',
  setInstructionBreakpoints: 'breakpoints',
  setDataBreakpoints: 'breakpoints',
  breakpointLocations: 'breakpoints',
  threads: 'threads',
  stackTrace: 'stackFrames',
  scopes: 'scopes',
  variables: 'variables',
  completions: 'targets',
  stepInTargets: 'targets',
  modules: 'modules',
  disassemble: 'instructions',
};

/** Events of a delegate, and the reverse requests it may make. */
export interface DelegateEvents {
  event: [name: string, body: unknown];
  /** The delegate's process has ended. `expected`: we had said goodbye. Fires once. */
  gone: [end: { expected: boolean; code: number | null; signal: NodeJS.Signals | null; lastWords: string }];
}
