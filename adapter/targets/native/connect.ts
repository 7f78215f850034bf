import { basename } from 'node:path';
import { UserError } from '../../common/errors';
import { DelegateError, type DelegateClient } from '../delegate/client';
import type { Naming } from './discovery';

/** What a person calls a debug adapter: `lldb-dap 19` for a file of the name `lldb-dap-19`. */
export function delegateName(command: string): string {
  return basename(command)
    .replace(/\.exe$/i, '')
    .replace(/-(\d+)$/, ' $1');
}

/** Starts it. One that answers no `initialize` is none, and the sentence says where another is named. */
export async function startDelegate(client: DelegateClient, command: string, { check }: Naming): Promise<void> {
  try {
    await client.start();
  } catch (error) {
    if (!(error instanceof DelegateError)) throw error;
    const how = {
      gone: 'it ended at once',
      silent: 'it does not answer',
      refused: 'it refuses to begin',
      missing: 'it refuses to begin',
      nonsense: 'its answer makes no sense',
    }[error.why];
    throw new UserError(
      `${command} does not work as a debug adapter: ${how}. Toolbreak needs lldb-dap, or gdb 14 or later. ${check}`,
    );
  }
}
