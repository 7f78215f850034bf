import assert from 'node:assert/strict';
import { join } from 'node:path';
import { UserError } from '../../adapter/common/errors';
import type { CallDetail, ReaderMethods, ValueHandle } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { apps, scenes, until } from './e2e-support';

/** What the timeline says of the call of that name, as Python text. */
class Timeline {
  private readonly reader = new Reader(() => undefined);

  constructor(private readonly file: string) {}

  /** Nothing before it is recorded, or while the run file is made. */
  find(name: string): CallDetail | undefined {
    try {
      const { calls } = this.ask('search', { text: name, limit: 9 });
      return calls[0] === undefined ? undefined : this.ask('call', { id: calls[0].id });
    } catch (error) {
      if (error instanceof UserError && /is empty|does not exist/.test(error.message)) return undefined;
      throw error;
    }
  }

  detail(name: string): CallDetail {
    const found = this.find(name);
    assert.ok(found, name);
    return found;
  }

  text(handle: ValueHandle | undefined): string | undefined {
    if (handle === undefined) return undefined;
    return this.ask('copy', { value: handle.value, path: handle.path ?? [], format: 'python' }).text;
  }

  close(): void {
    this.reader.close();
  }

  private ask<K extends keyof ReaderMethods>(
    method: K,
    params: Omit<ReaderMethods[K]['params'], 'file'>,
  ): ReaderMethods[K]['result'] {
    return this.reader.handle(method, { file: this.file, ...params }) as ReaderMethods[K]['result'];
  }
}

scenes('What the timeline shows of a held call', (scene) => {
  const level0 = join(apps, 'level0', 'calculator.py');

  it('arguments as they were edited, beside those it was given; the result it is about to give', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add', 'mul'] } });
    const { runFile } = await s.client.waitFor('toolbreak/run');
    const timeline = new Timeline(runFile);
    try {
      const add = await s.stop();
      await s.set(add, 'Arguments', 'a', '10');
      await until(() => timeline.text(timeline.find('add')?.input) === "{'a': 10, 'b': 3}", 'the edit is recorded');
      assert.equal(timeline.text(timeline.detail('add').inputBefore), "{'a': 2, 'b': 3}");
      assert.equal(timeline.detail('add').output, undefined);
      await s.go(add);

      const mul = await s.stop();
      await s.client.request('toolbreak/skip', { threadId: mul.threadId, result: '"skipped"' });
      const skipped = await s.stop();
      assert.equal(skipped.body.reason, 'goto');
      await until(() => timeline.text(timeline.find('mul')?.output) === "'skipped'", 'the result is recorded');
      assert.equal(timeline.detail('mul').call.end, undefined);
      await s.set(skipped, 'Result', 'result', '[1, 2]');
      await until(() => timeline.text(timeline.find('mul')?.output) === '[1, 2]', 'the edited result is recorded');
      await s.go(skipped);
      assert.equal(await s.exit(), '2 + 3 = 13\n13 * 4 = [1, 2]\n');
      await s.client.request('disconnect', {});
      await s.client.closed;
      const [first, second] = [timeline.detail('add'), timeline.detail('mul')];
      assert.deepEqual(
        [timeline.text(first.input), timeline.text(first.inputBefore), timeline.text(first.output)],
        ["{'a': 10, 'b': 3}", "{'a': 2, 'b': 3}", '13'],
      );
      assert.deepEqual(
        [timeline.text(second.input), second.inputBefore, timeline.text(second.output)],
        ["{'a': 13, 'b': 4}", undefined, '[1, 2]'],
      );
    } finally {
      timeline.close();
    }
  });
});
