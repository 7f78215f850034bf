import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inertJson } from '../../common/inertJson';
import { DamagedRunError, isDamage } from '../database';
import { isIntact } from '../life/intact';
import { cannotExport } from '../life/output';
import { makeWhole } from '../life/whole';
import { RunFile } from '../reader/runFile';
import { otlp } from './otlp';
import { perfetto } from './perfetto';
import { wellFormed, type Cuts } from './plain';

export const FORMATS = { perfetto, otlp } as const;
export type Format = keyof typeof FORMATS;

/** Characters that are handed on together. */
const PIECE = 64 * 1024;

/**
 * Writes a run in another format: whole, or not at all. A live run is written as of one moment. Answers what is not in it. Throws a `UserError`.
 */
export function writeFormat(runFile: string, target: string, format: Format, toolbreak: string): Promise<Cuts> {
  return makeWhole(target, async (path, watch) => {
    const file = new RunFile(runFile);
    const cuts: Cuts = { count: 0, events: 0 };
    try {
      watch();
      file.begin();
      if (!isIntact(file.db)) throw cannotExport(runFile);
      const text = Readable.from(pieces(FORMATS[format](file, toolbreak, cuts)));
      await pipeline(text, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return cuts;
    } catch (error) {
      throw isDamage(error) || error instanceof DamagedRunError ? cannotExport(runFile) : error;
    } finally {
      file.close();
    }
  });
}

function* pieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield inertJson(wellFormed(piece));
    piece = '';
  }
  yield inertJson(wellFormed(piece));
}
