import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';

/** One stream of the app's output. It has a name, so that the runtime can hold it open when we die. */
export interface OutputPipe {
  path: string;
  /** For the app. */
  writeEnd: number;
  closeWriteEnd(): void;
  output: Readable;
}

/** Named pipes for stdout and stderr; nothing where the platform has none, and ordinary pipes have to do. */
export async function makePipes(folder: string, log: Log): Promise<OutputPipe[] | undefined> {
  if (process.platform === 'win32') return undefined;
  const paths = ['stdout', 'stderr'].map((name) => join(folder, name));
  const opened: number[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      execFile('mkfifo', ['-m', '600', ...paths], (error) =>
        error === null ? resolve() : reject(new Error(error.message)),
      );
    });
    // Opening to read first: opening to write would wait for a reader.
    const ends = paths.map((path) => {
      const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      opened.push(read);
      const write = openSync(path, constants.O_WRONLY);
      opened.push(write);
      return { path, read, write };
    });
    return ends.map(({ path, read, write }) => ({
      path,
      writeEnd: write,
      closeWriteEnd: () => closeSync(write),
      output: new Socket({ fd: read, readable: true, writable: false }),
    }));
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    log.warn(`no named pipes for the output: ${messageOf(error)}`);
    return undefined;
  }
}
