import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReaderMethods } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { LifePlace } from './life-support';
import { python } from './target-support';

/** More with TOOLBREAK_FUZZ_RUNS, others with TOOLBREAK_FUZZ_SEED=random, as for the tests of hostile input. */
const DRAWN = Math.round((400 * Number(process.env['TOOLBREAK_FUZZ_RUNS'] ?? 1000)) / 1000);

describe('life: values by chance', function () {
  this.timeout(120_000);
  let place: LifePlace;

  before(() => {
    place = new LifePlace();
  });
  after(() => place.remove());

  it('are copied from the recording as the Python that makes them again, arguments and results', async () => {
    const program = join(place.project, 'drawn.py');
    copyFileSync(join(__dirname, '..', 'support', 'drawn_values.py'), program);
    const kept = join(place.folder, 'drawn.pickle');
    const file = await place.record(program, [kept, String(DRAWN)]);
    const reader = new Reader(() => undefined);
    try {
      const ask = <K extends keyof ReaderMethods>(
        method: K,
        params: Omit<ReaderMethods[K]['params'], 'file'>,
      ): ReaderMethods[K]['result'] => reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
      const copied = (value: number, path: string[]): string => ask('copy', { value, path, format: 'python' }).text;
      const texts: Record<'arguments' | 'results', string[]> = { arguments: [], results: [] };
      const { calls } = ask('search', { text: 'tool', limit: 2 * DRAWN });
      for (const { id, name } of calls) {
        if (name !== 'tool') continue;
        const { input, output } = ask('call', { id });
        const number = Number(copied(input!.value, ['number']));
        texts.arguments[number] = copied(input!.value, ['value']);
        texts.results[number] = copied(output!.value, []);
      }
      for (const list of Object.values(texts)) {
        assert.equal(list.length, DRAWN);
        const path = join(place.folder, 'texts.json');
        writeFileSync(path, JSON.stringify(list));
        const said = execFileSync(python, [program, '--compare', kept, path], { encoding: 'utf8' });
        assert.deepEqual(JSON.parse(said), []);
      }
    } finally {
      reader.close();
    }
  });
});
