import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, messageOf, MistakeError, stateUnusable } from '../common/errors';
import { toolbreakVersion } from '../common/installation';
import { stateFolder } from '../common/paths';
import { cleanUpSessions, listSessions } from '../common/sessions';
import { DamagedRunError, isDamage } from '../store/database';
import { prune } from '../store/life/prune';
import { DEFAULT_RETENTION, noteRetention, readRetention } from '../store/life/retention';
import { noteWords } from '../store/life/words';
import { recoverSession } from '../store/recover';
import type { EarlyDelegate } from '../targets/native';
import { checkCommand } from './commands/check';
import { exportCommand } from './commands/export';
import { feedbackCommand } from './commands/feedback';
import { importCommand } from './commands/import';
import { deleteCommand, keepCommand } from './commands/keep';
import { pruneCommand } from './commands/prune';
import { queryCommand } from './commands/query';
import { runCommand } from './commands/run';
import { runsCommand } from './commands/runs';
import { showCommand } from './commands/show';
import { plainText, print, printJson } from './commands/text';
import { servePort, serveStdio } from './dap';
import { forgetOldCode } from './keptCode';
import { needNode } from './node';

let early: EarlyDelegate | undefined;

const program = new Command('toolbreak')
  .description('A debugger for agent workflows: breakpoints on tool calls and workflow nodes.')
  .version(toolbreakVersion())
  // Options behind `run COMMAND` are the command's own.
  .enablePositionalOptions()
  // What was typed wrongly is told from what could not be done: 2 and 1. Help and version are no mistakes.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

program
  .command('dap')
  .description('debug adapter on stdin and stdout, or for several clients on a loopback port')
  .option('--port <number>', 'listen on this port of 127.0.0.1 (0: any free one); clients need the token', portNumber)
  .option('--token-file <path>', 'write the token to this file instead of stderr')
  .option('--native', 'native code will be debugged: its debugger is started at once')
  .option('--lldb-dap <path>', 'with --native: this debugger')
  .option('--attach', 'with --native: in a process that runs already')
  .addOption(settingOption('--keep-days <number>', 'runs stay so many days, here and from now on; 0: without limit'))
  .addOption(settingOption('--keep-gigabytes <number>', 'runs take this much at most; 0: without limit'))
  .action(({ port, tokenFile, native, lldbDap, attach = false, keepDays, keepGigabytes }: DapOptions) => {
    if (keepDays !== undefined || keepGigabytes !== undefined) noteSettings(keepDays, keepGigabytes);
    const soon = native ? { lldbDap, attaches: attach, early } : undefined;
    return port === undefined ? serveStdio(soon) : servePort(port, tokenFile, soon);
  });

program
  .command('sessions')
  .description('list the running sessions')
  .option('--all', 'also those that ended')
  .option('--json', 'as JSON')
  .action(async ({ all, json }: { all?: boolean; json?: boolean }) => {
    const sessions = (await listSessions()).filter(({ live }) => live || all === true);
    const rows = sessions.map(({ record: { session, pid, started, name, cwd }, live }) => ({
      session,
      state: live ? 'running' : 'ended',
      pid,
      started,
      name: name ?? '',
      cwd: cwd ?? '',
    }));
    if (json === true) printJson(rows);
    else if (rows.length === 0) print('No session is running.');
    else
      print(rows.map((row) => plainText(`${row.session.padEnd(24)}${row.state.padEnd(9)}${row.started}  ${row.name}`)));
  });

program
  .command('version', { hidden: true })
  .description('what --version says')
  .action(() => print(toolbreakVersion()));

program
  .command('tidy', { hidden: true })
  .description('take over what dead sessions recorded, and remove old session folders')
  .action(() =>
    cleanUpSessions(
      (folder) =>
        recoverSession(folder).every(
          (one) => one.state === 'none' || (one.state === 'recovered' && !one.alive && !one.damaged),
        ),
      (folder, error) => process.stderr.write(`toolbreak: ${folder}: ${messageOf(error)}\n`),
    ),
  );

program
  .command('finish', { hidden: true })
  .description('note the texts of runs that ended, then take away runs as "prune" does')
  .argument('[files...]')
  .action((files: string[]) => {
    for (const file of files) {
      try {
        noteWords(file);
      } catch (error) {
        process.stderr.write(`toolbreak: ${messageOf(error)}\n`);
        process.exitCode = 1;
      }
    }
    prune({ retention: readRetention() });
    forgetOldCode();
  });

runsCommand(program);
keepCommand(program);
deleteCommand(program);
pruneCommand(program);
runCommand(program);
feedbackCommand(program);
exportCommand(program);
importCommand(program);
showCommand(program);
queryCommand(program);
checkCommand(program);

/** Runs the command that was typed. `early`: the debugger of native code that `start.ts` started for it. */
export async function main(given?: EarlyDelegate): Promise<void> {
  early = given;
  // What is said there is lost where the disk is full or nobody reads it; that is no reason to fail, or to say so there again.
  process.stderr.on('error', () => undefined);
  try {
    await needNode();
    await program.parseAsync();
  } catch (error) {
    // A sentence for the person needs no stack; it may name what they typed.
    process.stderr.write(`toolbreak: ${sentenceOf(error).split('\n').map(plainText).join('\n')}\n`);
    process.exit(error instanceof MistakeError ? 2 : error instanceof CommandError ? error.exitCode : 1);
  }
}

function sentenceOf(error: unknown): string {
  if ((error as { syscall?: unknown } | null)?.syscall === 'uv_cwd')
    return 'The folder that this terminal stands in was deleted. Change to another one.';
  // Whatever else is made stands in folders that are there.
  if ((error as { syscall?: unknown } | null)?.syscall === 'mkdir')
    return stateUnusable(stateFolder(), messageOf(error)).message;
  if (isDamage(error))
    return `A part of the run file is damaged (${messageOf(error)}). "toolbreak check RUN" says what of it can still be read.`;
  if (error instanceof DamagedRunError && error.message.endsWith('is damaged.'))
    return `${error.message} "toolbreak check" says what of it can still be read.`;
  return messageOf(error);
}

interface DapOptions {
  port?: number;
  tokenFile?: string;
  native?: boolean;
  lldbDap?: string;
  attach?: boolean;
  keepDays?: number;
  keepGigabytes?: number;
}

/** An option in which an editor passes a setting of its person. */
function settingOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    const number = Number(text);
    if (!Number.isFinite(number) || number < 0) throw new InvalidArgumentError('It is a number from 0 on.');
    return number;
  });
}

/** A session does not fail for a setting that cannot be noted. */
function noteSettings(days = DEFAULT_RETENTION.days, gigabytes = DEFAULT_RETENTION.gigabytes): void {
  try {
    noteRetention({ days, gigabytes });
  } catch (error) {
    process.stderr.write(`toolbreak: ${messageOf(error)}\n`);
  }
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
