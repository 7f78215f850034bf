import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { HoldReason } from '../../../protocol/control';
import type { Variables } from '../python/environment';
import { UserError } from '../../common/errors';

/** What a delegate is, as far as it matters how it is spoken to. */
export interface Quirks {
  family: 'lldb' | 'gdb';
  /** 0 where it does not tell. */
  major: number;
  /** `lldb-dap 19`. */
  name: string;
}

export function quirksOf(
  { family, major: known = 0 }: { family: 'lldb' | 'gdb'; major?: number },
  capabilities: Readonly<Record<string, unknown>>,
): Quirks {
  const said =
    capabilities['$__lldb_version'] ?? (capabilities['__lldb'] as { version?: unknown } | undefined)?.version;
  const major = Number(/version (\d+)/.exec(typeof said === 'string' ? said : '')?.[1] ?? known);
  const program = family === 'lldb' ? 'lldb-dap' : 'gdb';
  return { family, major, name: major > 0 ? `${program} ${major}` : program };
}

/** It says when the program goes on, also where it was told to. */
export function saysItGoesOn({ family, major }: Quirks): boolean {
  return family === 'lldb' && major >= 19;
}

/** A signal that stopped the program. */
export interface Signal {
  name: string;
  /** `address not mapped to object`. */
  cause?: string;
  /** Fault address, `0x10`. */
  address?: string;
}

export interface StopReason {
  reason: HoldReason;
  description: string;
  text?: string;
  signal?: Signal;
}

export const PAUSED: StopReason = { reason: 'pause', description: 'Paused' };

/** Signals that mean that the program has a fault. */
const FATAL = new Set([
  'SIGSEGV',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGABRT',
  'SIGSYS',
  'EXC_BAD_ACCESS',
  'EXC_ARITHMETIC',
]);

export function isCrash(signal: Signal): boolean {
  return FATAL.has(signal.name);
}

const WORDS: Record<string, string> = {
  SIGSEGV: 'Segmentation fault',
  SIGBUS: 'Bus error',
  SIGFPE: 'Arithmetic error',
  SIGILL: 'Illegal instruction',
  SIGABRT: 'Aborted',
  SIGSYS: 'Bad system call',
  SIGTRAP: 'Trap',
  SIGINT: 'Interrupted',
  SIGTERM: 'Asked to end',
};

/** `Segmentation fault: address not mapped to object, at 0x10 (SIGSEGV)`. */
export function signalSentence({ name, cause, address }: Signal): string {
  const word = WORDS[name] ?? 'Signal';
  return `${word}${cause ? `: ${cause}` : ''}${address ? `, at ${address}` : ''} (${name})`;
}

/**
 * Why the program stands still, put right: a pause and the entry come as signals, watched memory as a breakpoint (lldb-dap 19), an address breakpoint
 * without its name. `asked` is what we asked for.
 */
export function stopReason(
  body: Partial<P.StoppedEvent['body']>,
  asked: { pause: boolean; entry: boolean },
): StopReason {
  const said = typeof body.description === 'string' ? body.description : '';
  const both = wordsOf(body);
  const signal = signalIn(both);
  // lldb-dap 22 calls it an entry, too, where a core file begins.
  if ((body.reason === 'entry' && !(signal && isCrash(signal))) || (asked.entry && signal?.name === 'SIGSTOP')) {
    return { reason: 'entry', description: 'Paused on entry' };
  }
  if (body.reason === 'pause' || (asked.pause && (signal?.name === 'SIGSTOP' || signal?.name === 'SIGINT'))) {
    return PAUSED;
  }
  if (signal) {
    const sentence = signalSentence(signal);
    return { reason: 'exception', description: `Paused on ${signal.name}`, text: sentence, signal };
  }
  if (/\bwatchpoint\b/.test(both) || body.reason === 'data breakpoint') {
    return { reason: 'data breakpoint', description: 'Paused on watched memory', ...(said ? { text: said } : {}) };
  }
  switch (body.reason) {
    case 'step':
      // lldb steps away from where it stood, and a pause may come in between.
      if (asked.pause) return PAUSED;
      return { reason: 'step', description: 'Paused on step' };
    case 'breakpoint':
      return { reason: 'breakpoint', description: 'Paused on breakpoint' };
    case 'function breakpoint':
      return { reason: 'function breakpoint', description: 'Paused on function breakpoint' };
    case 'instruction breakpoint':
      return { reason: 'instruction breakpoint', description: 'Paused on instruction breakpoint' };
    case 'goto':
      return { reason: 'goto', description: 'Paused' };
    default:
      return { reason: 'exception', description: 'Paused on exception', ...(both.trim() ? { text: both.trim() } : {}) };
  }
}

/** The signal that stopped it, also where it was asked for. */
export function signalOf(body: Partial<P.StoppedEvent['body']>): Signal | undefined {
  return signalIn(wordsOf(body));
}

function wordsOf({ description, text }: Partial<P.StoppedEvent['body']>): string {
  return [description, text].map((one) => (typeof one === 'string' ? one : '')).join(' ');
}

/** `signal SIGSEGV: address not mapped to object (fault address: 0x10)`; version 22 writes `fault address=0x10`. */
export function signalIn(text: string): Signal | undefined {
  const match = /\b(?:signal\s+)?(SIG[A-Z0-9]+|EXC_[A-Z_]+)(?::\s*([^(]*?))?\s*(?:\(([^)]*)\))?\s*$/.exec(text.trim());
  if (!match) return undefined;
  const address = /0x[0-9a-fA-F]+/.exec(match[3] ?? '')?.[0];
  const cause = match[2]?.trim();
  return { name: match[1]!, ...(cause ? { cause } : {}), ...(address ? { address } : {}) };
}

/** The environment as the delegate takes it; lldb-dap 19 ignores an object without a word. */
export function environmentFor(quirks: Quirks, variables: Variables): Record<string, unknown> {
  const set = Object.entries(variables).filter((one): one is [string, string] => one[1] !== null);
  return quirks.family === 'lldb'
    ? { env: set.map(([name, value]) => `${name}=${value}`) }
    : { env: Object.fromEntries(set) };
}

/** Commands that take variables away, which no list of the environment can say. */
export function unsetCommands(variables: Variables): string[] {
  return (
    Object.entries(variables)
      // No environment has another name, and lldb would read more than a name in it.
      .filter(([name, value]) => value === null && /^[^\s=`"'\\]+$/.test(name))
      .map(([name]) => `settings append target.unset-env-vars ${name}`)
  );
}

/**
 * First stop in a third of the time: no search for debug information in places outside this machine's own folders. And a program that becomes another
 * one goes on, as it does without a debugger.
 */
export const QUICK_START = [
  'settings set symbols.enable-external-lookup false',
  'settings set target.process.stop-on-exec false',
  // References to numbers with what they refer to, behind the address.
  'type summary add --summary-string "${*var}" --regex "^(const )?((unsigned |signed |long |short )*(int|char|long|short|float|double|bool)|(std::)?(u?int(8|16|32|64|ptr)|s?size|ptrdiff)_t) &&?$"',
];

/**
 * lldb 22 may keep the frames of a moment before, where a library or another program was loaded since: registers are right, the stack is not. Each change of
 * this setting, which is for other languages, makes it look again.
 */
export const LOOK_AGAIN = ['true', 'false'].map(
  (value) => `settings set target.process.disable-language-runtime-unwindplans ${value}`,
);

/** A path as the rest of a command of lldb, which would run what stands between backticks. Throws a `UserError` for a line break. */
export function asArgument(path: string): string {
  if (/[\r\n]/.test(path))
    throw new UserError(`lldb-dap cannot be given a path with a line break in it: ${JSON.stringify(path)}.`);
  return path.replaceAll('`', '\\`');
}

/** An error text of the delegate for the person: the sentence, without the compiler's drawing below it. */
export function readableError(text: string): string {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const at = Math.max(
    lines.findIndex((line) => line.includes('error:')),
    0,
  );
  const plain = withList(lines.slice(at))
    .replace(/^(?:<?error: ?)+/, '')
    .replace(/^<user expression \d+>:\d+:\d+: /, '')
    .replace(/^error: /, '')
    .trim();
  return plain === ''
    ? 'This cannot be evaluated.'
    : `${/^(?:lldb|gdb)\b/.test(plain) ? plain.charAt(0) : plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.!?>]$/.test(plain) ? '' : '.'}`;
}

/** The first line, with what it introduces: `error: Couldn't look up symbols:`, the names line by line, and perhaps a hint. */
function withList([first = '', ...rest]: readonly string[]): string {
  if (!first.endsWith(':')) return first;
  // What follows is the sentence itself, with the compiler's drawing below it.
  if (rest[0]?.includes('error:')) return rest[0];
  const hint = rest.findIndex((line) => line.startsWith('Hint: '));
  const names = rest.slice(0, hint < 0 ? undefined : hint).join(', ');
  return hint < 0 ? `${first} ${names}` : `${first} ${names}. ${rest[hint]!.slice('Hint: '.length)}`;
}

/** Why memory cannot be watched, for the person. */
export function watchError(text: string): string {
  return text === '' || /watchpoint resources? failed/i.test(text)
    ? 'The processor can watch no more at once; on x86 it can watch four places. Watch fewer.'
    : readableError(text);
}

/** What a reference of C++ refers to, where lldb says it behind the address; `type` is that of the reference. */
export function referredTo(value: string, type: string | undefined): string {
  return isReference(type) ? (/^0x[0-9a-f]+ (.+)$/s.exec(value)?.[1] ?? value) : value;
}

export function isReference(type: string | undefined): boolean {
  return /&$/.test(type ?? '');
}
