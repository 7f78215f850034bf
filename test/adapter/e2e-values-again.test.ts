import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import type { ReaderMethods } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { scenes } from './e2e-support';

/** Shows each value that was given or returned, in the order of the calls. */
const PROGRAM = `
import json
import os
import threading

def look(value, more):
    return value

def show(value):
    print(json.dumps(value), flush=True)
    return look(value, 5)

def rounds(value):
    for _ in range(5):
        show(value)
    value["key40"]["values"][3] = "changed"
    show(value)
    show(value)
    value["key2"]["text"] = value["key2"].pop("text") + "."
    show(value)

rows = {f"key{row}": {"text": f"row {row}", "values": list(range(20))} for row in range(60)}
rounds(rows)
thread = threading.Thread(target=rounds, args=(rows,))
thread.start()
thread.join()
show("words " * 2000)
show("words " * 2000)
text = "many words " * 1000
for _ in range(4):
    show(text)
`;

scenes('Large values given again and again', (scene) => {
  for (const compiled of ['1', '0'])
    it(`are on the timeline as they were with each call, ${compiled === '1' ? 'compiled' : 'by Python code alone'}`, async () => {
      const s = scene();
      const program = s.app('again.py', PROGRAM);
      await s.launch({ program, record: { functions: ['@usercode'] }, env: { TOOLBREAK_COMPILED: compiled } });
      const lines = (await s.exit()).trim().split('\n');
      const file = await s.recording();
      assert.ok(statSync(file).size > 0);
      const reader = new Reader(() => undefined);
      const ask = <K extends keyof ReaderMethods>(
        method: K,
        params: Omit<ReaderMethods[K]['params'], 'file'>,
      ): ReaderMethods[K]['result'] => reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
      try {
        const { calls } = ask('search', { text: 'look', limit: 1000 });
        const details = calls
          .filter((call) => call.name === 'look')
          .map(({ id }) => ask('call', { id }))
          .sort((one, other) => one.call.start - other.call.start);
        assert.equal(details.length, lines.length);
        for (const [index, { input, output }] of details.entries()) {
          const copied = (value: number): unknown => JSON.parse(ask('copy', { value, path: [], format: 'json' }).text);
          const expected = JSON.parse(lines[index]!) as unknown;
          assert.deepEqual(copied(input!.value), { value: expected, more: 5 }, `argument of call ${index}`);
          assert.deepEqual(copied(output!.value), expected, `result of call ${index}`);
        }
      } finally {
        reader.close();
      }
    });
});
