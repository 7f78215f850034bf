import { UserError } from '../common/errors';
import type { RequestName } from './requests';

type Kind = 'a number' | 'a text' | 'a list' | 'an object';
/** Field to what it must be; `list[].field` is a field of every entry. */
type Fields = Readonly<Record<string, Kind>>;

const THREAD: Fields = { threadId: 'a number' };
const FRAME: Fields = { frameId: 'a number' };

/** What the handlers rely on without looking. */
const REQUIRED: { readonly [K in RequestName]?: Fields } = {
  setBreakpoints: { source: 'an object', 'breakpoints[].line': 'a number' },
  setFunctionBreakpoints: { breakpoints: 'a list', 'breakpoints[].name': 'a text' },
  setExceptionBreakpoints: { filters: 'a list', 'filterOptions[].filterId': 'a text' },
  setDataBreakpoints: { breakpoints: 'a list', 'breakpoints[].dataId': 'a text' },
  breakpointLocations: { source: 'an object', line: 'a number' },
  dataBreakpointInfo: { name: 'a text' },
  setInstructionBreakpoints: { breakpoints: 'a list', 'breakpoints[].instructionReference': 'a text' },
  readMemory: { memoryReference: 'a text', count: 'a number' },
  writeMemory: { memoryReference: 'a text', data: 'a text' },
  disassemble: { memoryReference: 'a text', instructionCount: 'a number' },
  stackTrace: THREAD,
  scopes: FRAME,
  variables: { variablesReference: 'a number' },
  locations: { locationReference: 'a number' },
  exceptionInfo: THREAD,
  setVariable: { variablesReference: 'a number', name: 'a text', value: 'a text' },
  setExpression: { expression: 'a text', value: 'a text' },
  evaluate: { expression: 'a text' },
  completions: { text: 'a text', column: 'a number' },
  continue: THREAD,
  next: THREAD,
  stepIn: THREAD,
  stepOut: THREAD,
  stepInTargets: FRAME,
  pause: THREAD,
  restartFrame: FRAME,
  gotoTargets: { source: 'an object', line: 'a number' },
  goto: { ...THREAD, targetId: 'a number' },
  source: { sourceReference: 'a number' },
  'toolbreak/skip': THREAD,
  'toolbreak/again': THREAD,
  'toolbreak/cancel': THREAD,
  'toolbreak/frameCall': FRAME,
  'toolbreak/callFrame': { call: 'a text' },
};

/** Arguments that lack what their request needs are the client's fault: it reads which field. */
export function checkArguments(command: RequestName, args: object): void {
  for (const [path, kind] of Object.entries(REQUIRED[command] ?? {})) {
    const [name = '', field] = path.split('[].');
    const value = (args as Record<string, unknown>)[name];
    if (field === undefined) {
      check(command, name, kind, value);
    } else if (value !== undefined) {
      check(command, name, 'a list', value);
      (value as unknown[]).forEach((entry, index) =>
        check(command, `${name}[${index}].${field}`, kind, (entry as Record<string, unknown> | null)?.[field]),
      );
    }
  }
}

function check(command: string, name: string, kind: Kind, value: unknown): void {
  const fits = {
    'a number': typeof value === 'number',
    'a text': typeof value === 'string',
    'a list': Array.isArray(value),
    'an object': typeof value === 'object' && value !== null && !Array.isArray(value),
  }[kind];
  if (!fits) {
    throw new UserError(`The request "${command}" needs "${name}", ${kind}.`);
  }
}
