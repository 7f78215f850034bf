import type { Command } from 'commander';
import { resolve } from 'node:path';
import { runsFolder } from '../../common/paths';
import { importFile } from '../../store/life/import';
import { count, plainText, print, printJson } from './text';

export function importCommand(program: Command): void {
  program
    .command('import')
    .description('take a recording from elsewhere: an exported run, a run file, or OTLP JSON')
    .argument('<file>', 'what "toolbreak export" wrote, or spans as OpenTelemetry\'s file exporter writes them')
    .option('--project <folder>', 'into this project (default: the current folder)')
    .option('--json', 'as JSON')
    .action(async (file: string, { project, json }: { project?: string; json?: boolean }) => {
      const run = await importFile(resolve(file), runsFolder(project ?? process.cwd()));
      if (json === true) printJson(run);
      else print(`Imported run ${run.number} (${plainText(run.name)}, ${count(run.calls, 'call')}).`);
    });
}
