/**
 * The demo workspace in a browser workbench, with a home folder of its own. Used by `npm start` where VS Code is not installed.
 *
 *   node build/demo.mjs            as `npm start`, where all is set up already
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, pageAddress, start } from './workbench.mjs';

const root = resolve(fileURLToPath(import.meta.url), '../..');
export const demo = join(root, 'fixtures/workspaces/demo');
export const WHAT_TO_DO = `
  1. Open triage.py and click left of the line "def lookup_order": a red dot appears.
  2. Press F5 ("Support agent" is selected). The run stops at the tool call.
  3. In Variables, open Arguments, double-click order_id, type 70, press Enter. F5 goes on.`;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Serves until a signal comes. Then the workbench ends, its folder goes, and this process exits. */
export async function serveDemo() {
  const workbench = install();
  const ending = new AbortController();
  const told = new Promise((resolveTold) => ending.signal.addEventListener('abort', resolveTold));
  // To the end of the process: a terminal's keys reach every process of the group, and npm and our launcher pass on what they got, too. The
  // second signal is not to end us in the middle of the work of the first.
  for (const signal of SIGNALS) process.on(signal, () => ending.abort());
  const home = mkdtempSync(join(tmpdir(), 'toolbreak-demo-'));
  let server;
  try {
    server = await start({
      workbench,
      home,
      settings: { 'security.workspace.trust.enabled': false },
      cancelled: ending.signal,
    });
    console.log(`
VS Code is not installed here, so the demo runs in a browser. Open

  ${pageAddress({ ...server, folder: demo, extension: root })}

and give the password

  ${server.password}
${WHAT_TO_DO}

Ctrl-C ends it.`);
    await told;
  } catch (error) {
    // Told to end while the workbench starts, nobody waits for it.
    if (!ending.signal.aborted) throw error;
  } finally {
    await server?.stop();
    // What was killed in the middle of writing may leave a file behind our back for a moment.
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
  process.exit(0);
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await serveDemo();
