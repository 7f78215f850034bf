import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { messageOf, MistakeError, UserError } from '../../common/errors';
import { runtimeFeedback, USUAL_SECONDS, type Feedback } from '../../targets/native/feedback';
import { withoutTemplates } from '../../targets/native/backtrace';
import type { Naming } from '../../targets/native/discovery';
import { parseData, parseWatch } from '../../targets/native/places';
import { column, count, fit, plainText, print, printJson, WIDEST_SHOWN, width } from './text';

interface Watch {
  location: string;
  expression: string;
}

interface Flags {
  at?: string[];
  watch?: Watch[];
  data?: string[];
  stdin?: string;
  stdinVariable?: boolean;
  lldbDap?: string;
  depth?: number;
  launchTimeout: number;
  firstTimeout: number;
  exitTimeout: number;
  json?: boolean;
}

export function feedbackCommand(program: Command): void {
  program
    .command('feedback')
    .description('run a native program once and gather values and backtraces at lines of its source')
    .argument('<command...>', 'the program, compiled with -g, and its arguments')
    .option('--at <file:line>', 'a backtrace of each hit of this line; may be repeated', more)
    .option('--watch <file:line=expression>', 'the value at each hit, before the line has run; may be repeated', watch)
    .option(
      '--data <name@file:line>',
      'each change of a variable, from this line on, or of a global; may be repeated',
      data,
    )
    .option('--stdin <file>', 'the standard input of the program; "-" passes ours on (default: empty)')
    .option('--stdin-variable', 'name the file of --stdin in TOOLBREAK_STDIN_FILE instead of redirecting')
    .option('--json', 'as JSON, with whole values, structured backtraces and output')
    .option('--lldb-dap <path>', 'debugger to use: lldb-dap, or gdb 14 or later (default: the newest on the PATH)')
    .addOption(numberOption('--depth <number>', 'frames of a structured backtrace, at most (default: 32)', 1))
    .addOption(seconds('--launch-timeout', 'until the program runs', USUAL_SECONDS.launch))
    .addOption(seconds('--first-timeout', 'until a first line is reached', USUAL_SECONDS.firstStop))
    .addOption(seconds('--exit-timeout', 'from then on until the program ends', USUAL_SECONDS.exit))
    .passThroughOptions()
    .addHelpText('after', EXIT_CODES)
    .action(act);
}

const EXIT_CODES = `
Ends with
  0    the program ran to its end, whatever it ended with, and everything was seen
  1    something is missing from the result (too late, the debugger failed), or there is no debugger
  2    the command line asks for what is not there: a program, file, line with code, variable or option
  130  interrupted; what came until then is printed
The program's own exit code is part of the result; one that crashed has 128 and the number of its signal.`;

const BY_OPTION: Naming = { by: 'with --lldb-dap', check: 'Check --lldb-dap.' };

async function act(command: string[], flags: Flags): Promise<void> {
  const { at = [], watch: watches = [], data = [] } = flags;
  if (at.length + watches.length + data.length === 0)
    throw new MistakeError('Nothing is asked for. Name lines with --at file:line or --watch file:line=expression.');
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  const input = await standardInput(flags.stdin);
  try {
    const feedback = await runtimeFeedback({
      command,
      project: process.cwd(),
      at,
      watches,
      data,
      ...(input.file !== undefined && { stdin: input.file }),
      ...(flags.stdinVariable && { stdinBy: 'variable' as const }),
      ...(flags.depth !== undefined && { depth: flags.depth }),
      debugger: flags.lldbDap,
      naming: BY_OPTION,
      seconds: { launch: flags.launchTimeout, firstStop: flags.firstTimeout, exit: flags.exitTimeout },
      signal: interrupt.signal,
    });
    if (flags.json) printJson(feedback);
    else print(linesOf(feedback));
    const { mistakes = [], partial } = feedback;
    for (const mistake of mistakes) process.stderr.write(`toolbreak: ${plainText(mistake)}\n`);
    if (partial !== undefined) process.stderr.write(`toolbreak: The result is partial: ${plainText(partial)}\n`);
    if (interrupt.signal.aborted) process.exitCode = 130;
    else if (mistakes.length > 0) process.exitCode = 2;
    else if (partial !== undefined) process.exitCode = 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    input.remove();
  }
}

/** Whole path of the file that becomes the input. */
async function standardInput(given: string | undefined): Promise<{ file?: string; remove(): void }> {
  if (given === undefined) return { remove: () => undefined };
  if (given !== '-') {
    const file = resolve(given);
    if (!existsSync(file)) throw new MistakeError(`The file ${given} does not exist. Check --stdin.`);
    if (statSync(file).isDirectory()) throw new MistakeError(`${given} is a folder. Name a file with --stdin.`);
    return { file, remove: () => undefined };
  }
  const folder = mkdtempSync(join(tmpdir(), 'toolbreak-stdin-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const file = join(folder, 'stdin');
  try {
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw new UserError(`The standard input could not be kept: ${messageOf(error)}.`);
  }
  return { file, remove };
}

// ---------------------------------------------------------------- for people

function linesOf(feedback: Feedback): string[] {
  const { breakpoints, watchpoints, dataBreakpoints, crash, exitCode } = feedback;
  const lines: string[] = [];
  const widestValue = Math.floor(width() / 4);
  for (const key of new Set([...Object.keys(breakpoints), ...Object.keys(watchpoints)])) {
    const traces = breakpoints[key];
    const values = watchpoints[key] ?? [];
    const names = [...new Set(values.map((one) => one.var))];
    const hits = traces?.length ?? values.filter((one) => one.var === names[0]).length;
    lines.push(`${plainText(key)}  ${hits === 0 ? 'never reached' : count(hits, 'hit')}`);
    for (const [text, times] of runsOf(traces ?? []))
      lines.push(`  ${traceText(text)}${times > 1 ? `  × ${times}` : ''}`);
    const widest = Math.min(24, Math.max(...names.map((name) => name.length), 0));
    for (const name of names) {
      const own = values.filter((one) => one.var === name).map(({ value }) => value);
      lines.push(`  ${column(name, widest)}  ${fit(own.join(', '), width() - widest - 4)}`);
    }
  }
  for (const [key, changes] of Object.entries(dataBreakpoints)) {
    lines.push(
      `${plainText(key)}  ${changes.length > 0 ? count(changes.length, 'change') : isWatched(feedback, key) ? 'never changed' : 'not watched'}`,
    );
    for (const { before, value, backtrace } of changes)
      lines.push(`  ${fit(before, widestValue)} -> ${fit(value, widestValue)}  by ${traceText(backtrace)}`);
  }
  if (crash !== undefined) lines.push(`It crashed. ${plainText(crash.text)}: ${traceText(crash.backtrace)}`);
  if (exitCode !== undefined)
    lines.push(`It ended with ${exitCode}${crash === undefined ? '' : ` (${crash.signal})`}.`);
  return lines;
}

/** What is said of a variable that could not be watched begins with its name. */
function isWatched({ mistakes = [], partial = '' }: Feedback, key: string): boolean {
  return ![...mistakes, partial].some((text) => text.includes(`"${key}" could not be watched`));
}

/** Whole, but for what a template was made of where that is long. */
function traceText(text: string): string {
  const plain = plainText(text);
  return plain.length <= Math.min(width(), WIDEST_SHOWN) - 4 ? plain : withoutTemplates(plain);
}

/** Equal neighbours counted. */
function runsOf(texts: readonly string[]): [text: string, times: number][] {
  const runs: [string, number][] = [];
  for (const text of texts) {
    const last = runs.at(-1);
    if (last?.[0] === text) last[1] += 1;
    else runs.push([text, 1]);
  }
  return runs;
}

// ---------------------------------------------------------------- options

const more = (value: string, before: string[] = []): string[] => [...before, value];

function watch(text: string, before: Watch[] = []): Watch[] {
  return [...before, mistake(() => parseWatch(text))];
}

function data(text: string, before: string[] = []): string[] {
  mistake(() => parseData(text));
  return [...before, text];
}

/** What is typed wrongly is told from what could not be done. */
function mistake<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

function numberOption(flags: string, description: string, least: number): Option {
  return new Option(flags, description).argParser((text) => {
    const number = Number(text);
    if (!Number.isFinite(number) || number < least) throw new InvalidArgumentError(`It is a number from ${least} on.`);
    return number;
  });
}

function seconds(flag: string, description: string, usual: number): Option {
  return numberOption(`${flag} <seconds>`, description, 0.1).default(usual);
}
