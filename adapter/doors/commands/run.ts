import { InvalidArgumentError, type Command } from 'commander';
import { badFunctionPattern } from '../../common/functionPattern';
import { endedBy } from '../../common/signals';
import { recordCommand, type Recorded } from '../headless';
import { notEmpty } from './arguments';
import { count, plainText } from './text';

interface RunFlags {
  name?: string;
  functions?: string[];
  subprocess: boolean;
}

export function runCommand(program: Command): void {
  program
    .command('run')
    .description('run a command and record its Python and Node; its input, output and exit code are its own')
    .argument('<command...>', 'a command, a Python file, or (behind --) -m and a module')
    .option('--name <name>', 'name of the run (default: its workflow, else the command)', notEmpty)
    .option(
      '--functions <pattern>',
      'record these functions, too: pkg.*, @usercode, @file:src/*.py; may be repeated',
      pattern,
    )
    .option('--no-subprocess', 'record the first process alone')
    .passThroughOptions()
    .action(async (command: string[], { name, functions = [], subprocess }: RunFlags) => {
      const say = (sentence: string): void => void process.stderr.write(`toolbreak: ${plainText(sentence).trim()}\n`);
      const options = { command, cwd: process.cwd(), functions, maskKeys: maskKeys(), subProcess: subprocess };
      const recorded = await recordCommand({ ...options, ...(name !== undefined && { name }) }, say);
      if (recorded.inLine) process.stderr.write('\n');
      if (recorded.processes === 0)
        say(
          'nothing was recorded, and no run is kept: no Python loaded Toolbreak, and no Node program its package. If it is a Python program, check that it is not started with -I, -S or -E, and that nothing replaces PYTHONPATH. In Node, what is recorded are the functions that the program gives to "wrap" of the package toolbreak.',
        );
      else if (recorded.unread) say('recorded, but nothing is in the run file so far: "toolbreak runs" tries again.');
      else say(countWords(recorded, functions, command));
      for (const sentence of endWords(recorded, command)) say(sentence);
      process.exitCode = recorded.code;
    });
}

/** How many calls there are, or why there may be none. */
function countWords(recorded: Recorded, functions: readonly string[], command: readonly string[]): string {
  const { calls, errors, ending, kept, left, partial } = recorded;
  const made = `${count(calls, 'call')}${errors > 0 ? ` (${count(errors, 'error')})` : ''}`;
  if (kept && left.length === 0)
    return `recorded ${made} so far: the run file could not take all of it. "toolbreak runs" tries again; look at it with "toolbreak show ${named(recorded)}".`;
  if (calls > 0) return `recorded ${made}; look at it with "toolbreak show ${named(recorded)}".`;
  if (ending?.signal !== undefined || partial) return 'recorded 0 calls until then.';
  if (functions.length === 0)
    return 'recorded 0 calls: no tool, node or model call was made. --functions "@usercode" records plain functions, too.';
  return `recorded 0 calls: no tool, node or model call was made, and no function of a source file was called that ${quoted(functions)} names. ${hint(command)}`;
}

/** Why functions that were called may not have been recorded. */
function hint(command: readonly string[]): string {
  if (command.some((word) => /(?:^|[\\/])(?:pytest|py\.test)(?:\.exe)?$/.test(word)))
    return 'Functions of test modules are recorded with --assert=plain of pytest, which else puts other code in their place.';
  return 'One is named with its module, such as search_agent.search, and * stands for anything in it; the module of the file that runs is __main__.';
}

function quoted(patterns: readonly string[]): string {
  return patterns.map((one) => `"${one}"`).join(' or ');
}

/** By its number: another run may have begun since, and be the last. */
function named({ number }: Recorded): string {
  return number > 0 ? String(number) : 'last';
}

/** What went wrong beside the calls, and where to see it. */
function endWords(recorded: Recorded, command: readonly string[]): string[] {
  const { calls, crashed, ending, uncaught, unmet, left } = recorded;
  const isWhole = ending?.signal === undefined && left.length === 0 && !recorded.partial && !recorded.kept;
  const words: string[] = [];
  // Where nothing was recorded, that is said already; where it was killed, goes on, or was recorded in part, it may not have come to them.
  if (calls > 0 && unmet.length > 0 && isWhole)
    words.push(`no function of a source file was called that ${quoted(unmet)} names. ${hint(command)}`);
  const other = ending?.child === true;
  const killed = ending?.how === 'crashed' ? undefined : ending?.signal;
  // Where the command itself was killed, it was another process that crashed.
  if (crashed)
    words.push(
      `${other || killed !== undefined ? 'a process that it started' : 'it'} crashed; see where with "toolbreak query ${named(recorded)} --type crash".`,
    );
  if (killed !== undefined)
    words.push(
      `${other ? 'a process that it started' : 'it'} ${endedBy(killed)}. What was recorded until then is kept.`,
    );
  if (uncaught > 0)
    words.push(
      `${count(uncaught, 'uncaught exception')} in ${uncaught === 1 ? 'a thread; see it' : 'threads; see them'} with "toolbreak query ${named(recorded)} --type event --text uncaught".`,
    );
  if (left.length > 0)
    words.push(
      `still running, and recorded on: ${left.join(', ')}. "toolbreak runs" takes over what is recorded from now on.`,
    );
  return words;
}

/** As where there is no adapter: whoever set it means every recording. */
function maskKeys(): string[] {
  const words = (process.env['TOOLBREAK_RECORD_MASK_KEYS'] ?? '').split(',');
  return words.map((word) => word.trim()).filter((word) => word !== '');
}

function pattern(value: string, before: string[] = []): string[] {
  const bad = badFunctionPattern(value);
  if (bad !== undefined) throw new InvalidArgumentError(bad);
  return [...before, value];
}
