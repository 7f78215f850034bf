import module from 'node:module';
import { startEarly, type EarlyDelegate } from '../targets/native/early';
import { keepCode } from './keptCode';

/*
 * The `toolbreak` command begins here: with what takes longest and needs nothing else, so that it happens while the rest is loaded. That is a file of
 * its own for this reason.
 */

/** What keeps something in the state folder anyway, and is waited for. */
const CACHED = new Set(['dap', 'run']);

const [command, ...rest] = process.argv.slice(2);

// Makes the editor's Electron a Node; it is meant for us, not for the app or the debugger, which may start an Electron of its own.
delete process.env['ELECTRON_RUN_AS_NODE'];

/** Nothing below is there in a Node that is too old for us, which hands over to another one. */
const isNew = typeof module.enableCompileCache === 'function';
const early =
  isNew && command === 'dap' && rest.includes('--native')
    ? startEarly(valueOf('--lldb-dap'), rest.includes('--attach'))
    : undefined;
if (CACHED.has(command ?? '')) keepCode();
void load(early);

async function load(early: EarlyDelegate | undefined): Promise<void> {
  const { main } = await import('./cli');
  await main(early);
}

function valueOf(option: string): string | undefined {
  const at = rest.indexOf(option);
  return at < 0 ? rest.find((one) => one.startsWith(`${option}=`))?.slice(option.length + 1) : rest[at + 1];
}
