import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseObject } from '../../adapter/common/ndjson';
import { SessionFolder } from '../../adapter/common/sessions';
import type { SeenCall } from '../../adapter/store/recorder';
import { openRecorder } from '../../adapter/store/workerRecorder';
import { dict, SpoolFile } from '../support/spool';
import { Stage } from './dap-support';
import { StorePlace } from './store-support';
import { Place } from './target-support';
import { openWithCalls } from '../support/run-file';

describe('events.jsonl and commands.jsonl', () => {
  let place: Place;
  let stage: Stage;
  let folder: SessionFolder;
  beforeEach(async () => {
    place = new Place();
    folder = await SessionFolder.create('0', place.folder);
    stage = new Stage(60_000, folder);
  });
  afterEach(async () => {
    await stage.end();
    assert.deepEqual(stage.problems, []);
    place.remove();
  });

  const text = (file: string): string => readFileSync(join(folder.folder, file), 'utf8');
  const lines = (file: string): Record<string, unknown>[] =>
    text(file)
      .trim()
      .split('\n')
      .map((line) => {
        const { time, ...rest } = parseObject(line)!;
        assert.match(String(time), /^\d{4}-/);
        return rest;
      });

  it('tell of holds, of tool and model calls, and of what clients did, without a value', async () => {
    const client = await stage.launched(undefined, { env: { OPENAI_API_KEY: 'plain-secret-1' } });
    stage.target.answers.scopes = () => ({ scopes: [{ name: 'Arguments', ref: 5, expensive: false }] });
    stage.target.answers.setVariable = () => ({ name: 'k', value: '1', ref: 0, editable: true });
    stage.target.answers.evaluate = () => ({ name: '', value: '1', ref: 0, editable: false });
    stage.target.answers.frames = () => ({ frames: [] });
    const threadId = await stage.held(client);
    const [frame] = await client.frames(threadId);
    const { scopes } = await client.request('scopes', { frameId: frame!.id });
    const { variablesReference } = scopes[0]!;
    await client.request('setVariable', { variablesReference, name: 'order_id', value: 'plain-secret-2' });
    const frameId = (await client.frames(threadId))[0]?.id;
    await client.request('evaluate', { expression: 'plain-secret-3', context: 'watch', frameId });
    await client.request('evaluate', { expression: 'login("plain-secret-4")', context: 'repl' });
    await client.request('next', { threadId });
    const call = { call: '1.42', kind: 'tool', name: 'lookup_order' };
    stage.recorderOptions!.onCalls!([
      { event: 'started', ...call, wall: 1_700_000_000_000_000_000n },
      { event: 'ended', ...call, wall: 1_700_000_001_000_000_000n, status: 'returned', milliseconds: 1000 },
    ]);
    const held = { threadId, ...call };
    stage.session.flush();
    assert.deepEqual(lines('events.jsonl'), [
      { event: 'held', ...held, boundary: 'before', reason: 'breakpoint' },
      { event: 'edited', threadId, call: '1.42', edited: 'order_id', client: 'client-1' },
      { event: 'released', threadId, call: '1.42', why: 'continue', step: 'over', client: 'client-1' },
      { event: 'started', ...call },
      { event: 'ended', ...call, status: 'returned', milliseconds: 1000 },
    ]);
    const by = { client: 'client-1' };
    assert.deepEqual(lines('commands.jsonl'), [
      { ...by, command: 'launch', program: '/app/triage.py' },
      { ...by, command: 'configurationDone' },
      { ...by, command: 'setVariable', name: 'order_id' },
      { ...by, command: 'evaluate', context: 'repl' },
      { ...by, command: 'next', threadId },
    ]);
    for (const file of ['events.jsonl', 'commands.jsonl']) {
      assert.doesNotMatch(text(file), /plain-secret|order_id=7/);
      assert.equal(statSync(join(folder.folder, file)).mode & 0o777, 0o600);
    }
  });
});

describe('store: calls of tools and models', () => {
  it('are told once they are in the file, others are not', async () => {
    const place = new StorePlace();
    const seen: SeenCall[] = [];
    new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'search', 'app.search', 'app', '/app.py', 3, 5)
      .add(1, 2, 'function', 'helper', 'app.helper', 'app', '/app.py', 8, 9)
      .add(2, 1, 'agent', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ q: 1 }), null)
      .add(3, 2, 1, 2, 1, 2500, dict({}), null)
      .add(4, 2, 2600, 0, null, null)
      .add(4, 1, 1_002_000, 1, null, null)
      .write(place.spool);
    const recorder = openRecorder({
      runFile: place.runFile,
      spoolFolder: place.spool,
      run: 'a',
      session: 's',
      name: 'app.py',
      onProblem: (problem) => place.problems.push(problem),
      indexFor: () => 1,
      onCalls: (calls) => {
        const db = openWithCalls(place.runFile);
        assert.equal(db.prepare('SELECT count(*) FROM calls').pluck().get(), 2);
        db.close();
        seen.push(...calls);
      },
    });
    await recorder.sync();
    await recorder.close();
    assert.deepEqual(
      seen.map(({ wall: _, ...call }) => call),
      [
        { event: 'started', call: '1.1', kind: 'tool', name: 'search' },
        { event: 'ended', call: '1.1', kind: 'tool', name: 'search', status: 'failed', milliseconds: 1 },
      ],
    );
    assert.equal(statSync(place.runFile).mode & 0o777, 0o600);
    assert.deepEqual(place.problems, []);
    await place.remove();
  }).timeout(20_000);
});
