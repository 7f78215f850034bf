import type { Handlers } from '../requests';
import * as breakpoints from './breakpoints';
import * as data from './data';
import * as evaluate from './evaluate';
import * as life from './life';
import * as memory from './memory';
import * as run from './run';
import * as sources from './sources';
import * as stack from './stack';
import * as toolbreak from './toolbreak';

/** The table of all requests; a missing one does not compile. */
export const HANDLERS: Handlers = {
  initialize: life.initialize,
  launch: life.launch,
  attach: life.attach,
  configurationDone: life.configurationDone,
  restart: life.restart,
  terminate: life.terminate,
  disconnect: life.disconnect,
  setBreakpoints: breakpoints.setBreakpoints,
  setFunctionBreakpoints: breakpoints.setFunctionBreakpoints,
  setExceptionBreakpoints: breakpoints.setExceptionBreakpoints,
  breakpointLocations: breakpoints.breakpointLocations,
  dataBreakpointInfo: data.dataBreakpointInfo,
  setDataBreakpoints: data.setDataBreakpoints,
  setInstructionBreakpoints: memory.setInstructionBreakpoints,
  readMemory: memory.readMemory,
  writeMemory: memory.writeMemory,
  disassemble: memory.disassemble,
  modules: memory.modules,
  threads: stack.threads,
  stackTrace: stack.stackTrace,
  scopes: stack.scopes,
  variables: stack.variables,
  locations: stack.locations,
  exceptionInfo: stack.exceptionInfo,
  setVariable: evaluate.setVariable,
  setExpression: evaluate.setExpression,
  evaluate: evaluate.evaluate,
  completions: evaluate.completions,
  continue: run.continue_,
  next: run.next,
  stepIn: run.stepIn,
  stepOut: run.stepOut,
  stepInTargets: run.stepInTargets,
  pause: run.pause,
  restartFrame: run.restartFrame,
  gotoTargets: run.gotoTargets,
  goto: run.goto,
  terminateThreads: run.terminateThreads,
  loadedSources: sources.loadedSources,
  source: sources.source,
  'toolbreak/skip': toolbreak.skip,
  'toolbreak/again': toolbreak.again,
  'toolbreak/cancel': toolbreak.cancelCall,
  'toolbreak/status': toolbreak.status,
  'toolbreak/frameCall': toolbreak.frameCall,
  'toolbreak/callFrame': toolbreak.callFrame,
  'toolbreak/names': toolbreak.names,
};
