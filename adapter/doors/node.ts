import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../common/errors';

/** Oldest Node that the native part of the store runs in; an older one would crash. */
const OLDEST = 22;

/** Under an older Node, hands over to the one that a checkout of Toolbreak brings along, and never returns. Throws a `UserError` where there is none. */
export function needNode(versions = process.versions, root = join(__dirname, '..')): void {
  if (Number.parseInt(versions.node, 10) >= OLDEST) return;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const other = join(root, 'node_modules', 'node', 'bin', name);
  if (!existsSync(other))
    throw new UserError(`Toolbreak needs Node ${OLDEST} or later. This is Node ${versions.node}, ${process.execPath}.`);
  // What Ctrl-C means is the other's to say.
  process.on('SIGINT', () => undefined);
  const { status, signal, error } = spawnSync(other, process.argv.slice(1), { stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (signal !== null) {
    process.removeAllListeners('SIGINT');
    process.kill(process.pid, signal);
  }
  process.exit(status ?? 1);
}
