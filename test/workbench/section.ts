import type { Page } from 'playwright-core';
import { Pane } from './pane';
import { DEMO, open, restored, Steps, type Opened, type Options } from './workbench';

export interface At {
  opened: Opened;
  page: Page;
  pane: Pane;
  test: Steps;
}

/** A part of the driven test, with a workbench of its own: what fails here hides nothing elsewhere. */
export interface Section {
  name: string;
  options?: Partial<Options>;
  run(at: At): Promise<void>;
}

/** Runs one section in a fresh workbench. */
export async function runSection(section: Section): Promise<{ passed: number; failed: number }> {
  const start = Date.now();
  console.log(section.name);
  const opened = await open({ workspace: DEMO, ...section.options });
  const { page } = opened;
  page.setDefaultTimeout(30_000);
  const test = new Steps(`driven-${section.name}`, opened);
  try {
    await restored(page);
    await section.run({ opened, page, pane: new Pane(page), test });
  } finally {
    if (opened.problems.length > 0) console.log(`  page errors: ${opened.problems.slice(0, 5).join('; ')}`);
    await opened.close();
  }
  console.log(`  ${((Date.now() - start) / 1000).toFixed(1)} s`);
  return { passed: test.passed, failed: test.failed };
}
