import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { ToolbreakRequests } from '../../protocol/dap';
import type { Client } from './client';
import type { Session } from './session';

interface R<A, B> {
  arguments: A;
  body: B;
}
type Nothing = void;

/** Every request that is answered: its arguments and the body of its answer. `cancel` is the connection's own. */
export interface Requests extends ToolbreakRequests {
  initialize: R<P.InitializeRequestArguments, P.Capabilities>;
  launch: R<P.LaunchRequestArguments, Nothing>;
  attach: R<P.AttachRequestArguments, Nothing>;
  configurationDone: R<P.ConfigurationDoneArguments, Nothing>;
  restart: R<P.RestartArguments, Nothing>;
  terminate: R<P.TerminateArguments, Nothing>;
  disconnect: R<P.DisconnectArguments, Nothing>;
  setBreakpoints: R<P.SetBreakpointsArguments, P.SetBreakpointsResponse['body']>;
  setFunctionBreakpoints: R<P.SetFunctionBreakpointsArguments, P.SetFunctionBreakpointsResponse['body']>;
  setExceptionBreakpoints: R<P.SetExceptionBreakpointsArguments, P.SetExceptionBreakpointsResponse['body']>;
  breakpointLocations: R<P.BreakpointLocationsArguments, P.BreakpointLocationsResponse['body']>;
  dataBreakpointInfo: R<P.DataBreakpointInfoArguments, P.DataBreakpointInfoResponse['body']>;
  setDataBreakpoints: R<P.SetDataBreakpointsArguments, P.SetDataBreakpointsResponse['body']>;
  setInstructionBreakpoints: R<P.SetInstructionBreakpointsArguments, P.SetInstructionBreakpointsResponse['body']>;
  readMemory: R<P.ReadMemoryArguments, P.ReadMemoryResponse['body']>;
  writeMemory: R<P.WriteMemoryArguments, P.WriteMemoryResponse['body']>;
  disassemble: R<P.DisassembleArguments, P.DisassembleResponse['body']>;
  modules: R<P.ModulesArguments, P.ModulesResponse['body']>;
  threads: R<Record<string, never>, P.ThreadsResponse['body']>;
  stackTrace: R<P.StackTraceArguments, P.StackTraceResponse['body']>;
  scopes: R<P.ScopesArguments, P.ScopesResponse['body']>;
  variables: R<P.VariablesArguments, P.VariablesResponse['body']>;
  locations: R<P.LocationsArguments, P.LocationsResponse['body']>;
  exceptionInfo: R<P.ExceptionInfoArguments, P.ExceptionInfoResponse['body']>;
  setVariable: R<P.SetVariableArguments, P.SetVariableResponse['body']>;
  setExpression: R<P.SetExpressionArguments, P.SetExpressionResponse['body']>;
  evaluate: R<P.EvaluateArguments, P.EvaluateResponse['body']>;
  completions: R<P.CompletionsArguments, P.CompletionsResponse['body']>;
  continue: R<P.ContinueArguments, P.ContinueResponse['body']>;
  next: R<P.NextArguments, Nothing>;
  stepIn: R<P.StepInArguments, Nothing>;
  stepOut: R<P.StepOutArguments, Nothing>;
  stepInTargets: R<P.StepInTargetsArguments, P.StepInTargetsResponse['body']>;
  pause: R<P.PauseArguments, Nothing>;
  restartFrame: R<P.RestartFrameArguments, Nothing>;
  gotoTargets: R<P.GotoTargetsArguments, P.GotoTargetsResponse['body']>;
  goto: R<P.GotoArguments, Nothing>;
  terminateThreads: R<P.TerminateThreadsArguments, Nothing>;
  loadedSources: R<P.LoadedSourcesArguments, P.LoadedSourcesResponse['body']>;
  source: R<P.SourceArguments, P.SourceResponse['body']>;
}

export type RequestName = keyof Requests;

/** Where a request comes from and what it may touch. */
export interface Context {
  session: Session;
  client: Client;
  signal: AbortSignal;
}

/** One handler a request: typed arguments in, typed body out. */
export type Handler<K extends RequestName> = (
  context: Context,
  args: Requests[K]['arguments'],
) => Requests[K]['body'] | Promise<Requests[K]['body']>;

export type Handlers = { readonly [K in RequestName]: Handler<K> };
