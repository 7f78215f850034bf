import { closeSync, createReadStream, existsSync, lstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { MistakeError, UserError } from '../../common/errors';
import { toolbreakVersion } from '../../common/installation';
import { writeBundle } from '../../store/life/bundle';
import type { Cuts } from '../../store/formats/plain';
import { FORMATS, writeFormat, type Format } from '../../store/formats/write';
import { findRun } from '../../store/life/find';
import { cannotWrite } from '../../store/life/output';
import { sizeText } from '../../store/life/retention';
import { inNewFolder } from '../../store/life/whole';
import { placeFrom, runNames, withPlace, type PlaceOptions } from './place';
import { count, outputFailed, plainText, print, printJson } from './text';

interface ExportFlags extends PlaceOptions {
  output: string;
  format: 'run' | Format;
  force?: boolean;
  json?: boolean;
}

export function exportCommand(program: Command): void {
  withPlace(program.command('export'))
    .description('write a run into one file, for another machine; also while it is recorded')
    .argument('<run>', 'number, id, "last" or path')
    .addOption(new Option('-o, --output <file>', 'where to write it; -: to stdout').makeOptionMandatory())
    .addOption(
      new Option(
        '--format <format>',
        'run: all of it, for "toolbreak import"; perfetto: trace event JSON; otlp: OTLP JSON lines',
      )
        .choices(['run', ...Object.keys(FORMATS)])
        .default('run'),
    )
    .option('--force', 'also over a file that is there')
    .option('--json', 'as JSON')
    .action(async (run: string, flags: ExportFlags) => {
      const file = findRun(run, placeFrom(flags));
      if (flags.output === '')
        throw new MistakeError('The name of the file that is to be written is empty. Name one, or "-" for stdout.');
      if (flags.output === '-') return toStdout(file, flags);
      const target = resolve(flags.output);
      const there = statOf(target);
      if (there?.isDirectory() === true) throw new UserError(`${target} is a folder. Name a file in it.`);
      if (there?.isFile() === false)
        throw new UserError(
          `${target} is a link, a device or a pipe, and is not replaced. Name a file, or "-" for stdout.`,
        );
      if (there !== undefined && flags.force !== true)
        throw new UserError(`${target} is there already. Choose another name, or add --force.`);
      if (there !== undefined && isDatabase(target))
        throw new UserError(`${target} is a database, perhaps a recording, and is not replaced. Choose another name.`);
      const cuts = await write(file, target, flags.format);
      const bytes = statSync(target).size;
      if (flags.json === true)
        printJson({
          ...runNames(file),
          written: target,
          bytes,
          ...(cuts !== undefined && { cut: cuts.count, otherEvents: cuts.events }),
        });
      else print([`Wrote ${plainText(target)} (${sizeText(bytes)}).`, ...cutLines(cuts)]);
    });
}

/** Of the link itself, where it is one; nothing where nothing is. Throws a `UserError`. */
function statOf(target: string): Stats | undefined {
  try {
    return lstatSync(target, { throwIfNoEntry: false });
  } catch (error) {
    throw cannotWrite(target, error);
  }
}

/** Throws a `UserError` where nobody may look. */
function isDatabase(file: string): boolean {
  const head = Buffer.alloc(15);
  try {
    const fd = openSync(file, 'r');
    readSync(fd, head, 0, head.length, 0);
    closeSync(fd);
  } catch (error) {
    throw cannotWrite(file, error);
  }
  return head.toString('latin1') === 'SQLite format 3';
}

/** Answers what another format has not. */
async function write(file: string, target: string, format: ExportFlags['format']): Promise<Cuts | undefined> {
  if (format !== 'run') return writeFormat(file, target, format, toolbreakVersion());
  await writeBundle(file, target, toolbreakVersion());
  return undefined;
}

function cutLines(cuts: Cuts | undefined): string[] {
  const { count: cut, events } = cuts ?? { count: 0, events: 0 };
  const lines: string[] = [];
  if (cut > 0)
    lines.push(
      `${count(cut, 'value')} in it ${cut === 1 ? 'is' : 'are'} not whole, and marked: the recording cut ${cut === 1 ? 'it' : 'them'}, or this format takes less.`,
    );
  if (events > 0)
    lines.push(
      `${count(events, 'event')}, such as what was printed, ${events === 1 ? 'is' : 'are'} not in it: this format has no place for ${events === 1 ? 'it' : 'them'}.`,
    );
  return lines.length === 0 ? [] : [...lines, 'Leave --format out to write all that was recorded.'];
}

/** Whole or not at all: what reads us cannot take back a half. */
async function toStdout(file: string, { format, json }: ExportFlags): Promise<void> {
  if (json === true) throw new MistakeError('What is exported goes to stdout itself: leave --json out.');
  if (format === 'run' && process.stdout.isTTY)
    throw new UserError('A run is compressed and no text for a terminal. Name a file, or pass it on with a pipe.');
  if (!existsSync(tmpdir()))
    throw new UserError(`The folder for temporary files does not exist: ${tmpdir()}. Set TMPDIR to another one.`);
  const failure = await inNewFolder(join(tmpdir(), 'toolbreak-export-'), async (folder, watch) => {
    const target = join(folder, 'run');
    const cuts = await write(file, target, format);
    watch();
    for (const line of cutLines(cuts)) process.stderr.write(`${line}\n`);
    const printed = pipeline(createReadStream(target), process.stdout, { end: false });
    return printed.then(undefined, (error: NodeJS.ErrnoException) => error);
  });
  if (failure !== undefined) outputFailed(failure);
}
