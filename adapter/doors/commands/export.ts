import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { UserError } from '../../common/errors';
import { toolbreakVersion } from '../../common/installation';
import { writeBundle } from '../../store/life/bundle';
import { FORMATS, writeFormat, type Format } from '../../store/formats/write';
import { findRun } from '../../store/life/find';
import { sizeText } from '../../store/life/retention';
import { placeFrom, withPlace, type PlaceOptions } from './place';
import { plainText, print, printJson } from './text';

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
    .addOption(new Option('-o, --output <file>', 'where to write it').makeOptionMandatory())
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
      const target = resolve(flags.output);
      if (flags.force !== true && statSync(target, { throwIfNoEntry: false }) !== undefined)
        throw new UserError(`${target} is there already. Choose another name, or add --force.`);
      if (flags.format === 'run') await writeBundle(file, target, toolbreakVersion());
      else await writeFormat(file, target, flags.format, toolbreakVersion());
      const bytes = statSync(target).size;
      if (flags.json === true) printJson({ run: file, file: target, bytes });
      else print(`Wrote ${plainText(target)} (${sizeText(bytes)}).`);
    });
}
