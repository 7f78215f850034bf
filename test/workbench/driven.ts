/**
 * The product's main jobs, as a person does them: with clicks and keys in the real workbench. Every section has a workbench of its own.
 * Leaves pictures in artifacts/.
 *
 *   tsx test/workbench/driven.ts [stops | views | section...]
 */
import { breakpoints } from './sections/breakpoints';
import { endings } from './sections/endings';
import { hold } from './sections/hold';
import { lines } from './sections/lines';
import { mixed, mixedProgram } from './sections/mixed';
import { native } from './sections/native';
import { parallel } from './sections/parallel';
import { pause } from './sections/pause';
import { picture } from './sections/picture';
import { starting, wrongSettings } from './sections/starting';
import { steps } from './sections/steps';
import { terminal } from './sections/terminal';
import { timeline } from './sections/timeline';
import { untrusted } from './sections/untrusted';
import { runSection } from './section';
import { report } from './workbench';

const STOPS = [hold, steps, lines, pause, native, mixed, mixedProgram, parallel];
const VIEWS = [breakpoints, timeline, endings, terminal, starting, wrongSettings, untrusted, picture];
const PARTS = new Map([
  ['stops', STOPS],
  ['views', VIEWS],
]);
const SECTIONS = [...STOPS, ...VIEWS];

async function main(): Promise<void> {
  const asked = process.argv.slice(2).flatMap((name) => PARTS.get(name)?.map((section) => section.name) ?? [name]);
  const unknown = asked.filter((name) => !SECTIONS.some((section) => section.name === name));
  if (unknown.length > 0) {
    console.log(
      `No section is called ${unknown.join(', ')}. Sections: ${SECTIONS.map(({ name }) => name).join(', ')}.`,
    );
    report(0, 1);
    return;
  }
  let passed = 0;
  let failed = 0;
  for (const section of SECTIONS.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
    try {
      const counts = await runSection(section);
      passed += counts.passed;
      failed += counts.failed;
    } catch (error) {
      failed += 1;
      console.log(
        `  FAILED ${section.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
  }
  report(passed, failed);
}

void main();
