import type { DebugProtocol as P } from '@vscode/debugprotocol';

interface Evaluates {
  request(command: 'evaluate', args: P.EvaluateArguments): Promise<P.EvaluateResponse['body']>;
}

/** Files for a program's streams; those that are left out stay the debugger's. */
export interface StreamFiles {
  input?: string | undefined;
  output?: string | undefined;
  error?: string | undefined;
  /** Made once the program's streams are open: gdb answers `launch` before. */
  ready?: string | undefined;
}

/**
 * What gdb is told before its breakpoints, which it does not do itself in time: it loads a program only when everything is configured, and till then no
 * breakpoint stands anywhere; and what it says goes where the program prints.
 */
export async function prepareGdb(client: Evaluates, program: string, streams: StreamFiles): Promise<void> {
  for (const expression of gdbCommands(program, streams))
    await client.request('evaluate', { expression, context: 'repl' });
}

export function gdbCommands(program: string, streams: StreamFiles): string[] {
  const file = `file "${program.replace(/(["\\])/g, '\\$1')}"`;
  const redirections = (['input', 'output', 'error'] as const).flatMap((name, fd) => {
    const path = streams[name];
    return path === undefined ? [] : [`${fd}${fd === 0 ? '<' : '>'}${quoted(path)}`];
  });
  // Programs are started through a shell, but not on Windows.
  if (redirections.length === 0 || process.platform === 'win32') return [file];
  const ready = streams.ready === undefined ? '' : `: >${quoted(streams.ready)}; `;
  const script = `exec ${redirections.join(' ')}; ${ready}exec "$@"`;
  return [file, `set exec-wrapper /bin/sh -c ${quoted(script)} sh`];
}

/** A stop with the signal that it does not name, as lldb-dap words it. */
export async function withSignal(
  client: Evaluates,
  body: Partial<P.StoppedEvent['body']>,
): Promise<Partial<P.StoppedEvent['body']>> {
  if (body.reason !== 'signal' && body.reason !== 'exception') return body;
  const signal = /signal (SIG[A-Z0-9]+)/.exec(await said(client, 'info program'))?.[1];
  if (signal === undefined) return body;
  const address = ['SIGSEGV', 'SIGBUS'].includes(signal)
    ? /0x[0-9a-f]+/.exec(await said(client, 'output/x (unsigned long) $_siginfo._sifields._sigfault.si_addr'))?.[0]
    : undefined;
  return { ...body, reason: 'exception', text: `signal ${signal}${address ? ` (fault address: ${address})` : ''}` };
}

/** The number of the signal that ended the program, which gdb tells as an exit with 0. */
export async function endedBySignal(client: Evaluates): Promise<number | undefined> {
  const number = Number((await said(client, 'output $_exitsignal')).trim());
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

async function said(client: Evaluates, expression: string): Promise<string> {
  return (await client.request('evaluate', { expression, context: 'repl' })).result ?? '';
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}
