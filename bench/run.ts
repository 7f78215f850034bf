/** Prints the table of `bench/README.md`. Row numbers as arguments measure only these. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { feedbackHits, nativeStops, pythonStops } from './lines';
import { quietNodeCalls, recordedNodeCalls } from './node';
import { ingest, pageFrames, questions, sustained } from './store';
import { holds, largeValues, nodeSteps, otherCode, pauses, quietCalls, recordedCalls, type Row } from './rows';

const subjects: [rows: string[], measure: () => Promise<Row[]>][] = [
  [['1', '7'], quietCalls],
  [['2'], quietNodeCalls],
  [['3'], recordedCalls],
  [['4'], recordedNodeCalls],
  [['5'], nodeSteps],
  [['6'], otherCode],
  [['8'], pauses],
  [['9'], holds],
  [['10'], ingest],
  [['10'], sustained],
  [['11'], questions],
  [['12'], largeValues],
  [['13'], pageFrames],
  [['14'], nativeStops],
  [['15'], feedbackHits],
  [['16'], pythonStops],
];

const number = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

function line({ row, what, unit, reference, ours, goal }: Row): string {
  const ratio = reference ? `${number(reference.value / ours)}x` : '';
  return `| ${row} | ${what} | ${unit} | ${reference ? `${reference.name}: ${number(reference.value)}` : ''} | ${number(ours)} | ${goal} | ${ratio} |`;
}

async function main(): Promise<void> {
  const asked = process.argv.slice(2);
  const lines = [
    `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`,
    '',
    '| row | what | unit | reference | Toolbreak | to reach | reference / Toolbreak |',
    '|---|---|---|---|---|---|---|',
  ];
  console.log(lines.join('\n'));
  for (const [rows, measure] of subjects) {
    if (asked.length > 0 && !rows.some((each) => asked.includes(each))) continue;
    for (const row of await measure()) {
      lines.push(line(row));
      console.log(line(row));
    }
  }
  const folder = join(__dirname, '../artifacts');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'bench.md'), `${lines.join('\n')}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
