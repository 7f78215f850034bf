import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import type { ReaderMethods } from '../../protocol/timeline';
import { startMark } from '../../adapter/store/alive';
import { openForWriting } from '../../adapter/store/database';
import { prepare } from '../../adapter/store/statements';
import { recoverSpool } from '../../adapter/store/recover';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { Float, Tagged, Tuple } from '../../adapter/store/values/model';
import { openRecorder } from '../../adapter/store/workerRecorder';
import { SpoolFile, dict } from '../support/spool';

const PROCESS = '4000001-abc';
const message = (type: string, content: string, calls: string[] = []): Tagged =>
  new Tagged('object', [
    `langchain_core.messages.${type}`,
    dict({
      content,
      tool_calls: calls.map((name) =>
        name === 'lookup_order' ? dict({ name, args: dict({ order_id: 7, with: ['lines'] }) }) : dict({ name }),
      ),
    }),
    null,
  ]);

/** A run of an agent: workflow, node, a held tool with an edit, a failed tool. */
function agentRun(): SpoolFile {
  const before = dict({
    messages: [message('HumanMessage', 'please refund\norder 7')],
    verdict: '',
    visits: ['start'],
    old: 1,
  });
  const after = dict({
    messages: [
      message('HumanMessage', 'please refund\norder 7'),
      message('AIMessage', '', ['lookup_order', 'check_stock']),
    ],
    verdict: 'scored',
    visits: ['start', 'agent'],
  });
  return new SpoolFile(PROCESS)
    .add(1, 1, 'workflow', 'support_agent', 'triage.build', 'triage', '/app/triage.py', 70, 80)
    .add(1, 2, 'node', 'tools', 'triage.tools', 'triage', '/app/triage.py', 61, 65)
    .add(1, 3, 'tool', 'lookup_order', 'triage.lookup_order', 'triage', '/app/triage.py', 12, 20)
    .add(1, 4, 'tool', 'refund', 'triage.refund', 'triage', '/app/triage.py', 30, 40)
    .add(2, 1, 'support_agent', 0)
    .add(2, 2, 'support_agent › check_stock', 1)
    .add(3, 1, 0, 1, 1, 10_000, dict({}), dict({ 'gen_ai.workflow.name': 'support_agent' }))
    .add(3, 2, 1, 2, 1, 11_000, before, null)
    .add(5, 2, 11_100, 'before', before)
    .add(
      3,
      3,
      2,
      3,
      1,
      12_000,
      dict({ order_id: 7, region: 'eu', key: new Tagged('masked', ['key holds a secret']) }),
      null,
    )
    .add(6, 12_100, 'held', 3, dict({ boundary: 'before', reason: 'breakpoint', description: 'Paused before tool' }))
    .add(6, 12_500, 'edited', 3, dict({ text: 'lookup_order: order_id 7 → 70 (edited)', client: 'vscode' }))
    .add(6, 13_000, 'resumed', 3, dict({ why: 'release', client: 'vscode' }))
    .add(4, 3, 14_000, 0, dict({ state: 'sent', price: new Float(3), pair: new Tuple([1, null]) }), null)
    .add(3, 4, 2, 4, 2, 14_000, dict({ amount: 700 }), null)
    .add(
      4,
      4,
      15_000,
      1,
      new Tagged('error', [
        'ValueError',
        'amount 700 needs approval',
        [new Tuple(['/app/triage.py', 33, 'refund'])],
        null,
        dict({}),
      ]),
      null,
    )
    .add(5, 2, 15_500, 'after', after)
    .add(4, 2, 16_000, 0, after, dict({ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 }))
    .add(4, 1, 20_000, 0, after, null);
}

describe('store: reader', function () {
  this.timeout(30_000);
  let root: string;
  let spool: string;
  let file: string;
  let child: ChildProcess;
  let next = 1;
  const waiting = new Map<number, (answer: { result?: unknown; error?: { message: string } }) => void>();
  const changed: (() => void)[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
    spool = join(root, 'sessions', 's', 'spool', 'a');
    file = join(root, 'projects', 'p', 'runs', 'a.db');
    mkdirSync(spool, { recursive: true });
    mkdirSync(dirname(file), { recursive: true });
    child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, '..', '..', 'adapter', 'doors', 'reader.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const answer = JSON.parse(line) as { id?: number; notify?: string };
      if (answer.notify === 'changed') for (const listener of changed.splice(0)) listener();
      else if (answer.id !== undefined) waiting.get(answer.id)?.(answer as never);
    });
  });
  afterEach(() => {
    child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  function raw(method: string, params: unknown): Promise<{ result?: unknown; error?: { message: string } }> {
    const id = next++;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      child.stdin!.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }
  async function ask<K extends keyof ReaderMethods>(
    method: K,
    params: ReaderMethods[K]['params'],
  ): Promise<ReaderMethods[K]['result']> {
    const { result, error } = await raw(method, params);
    assert.equal(error, undefined);
    return result as ReaderMethods[K]['result'];
  }

  const deadSession = (): void => {
    agentRun().write(spool);
    writeOwner(spool, { runFile: file, run: 'a', session: 's', name: 'triage.py', pid: 4000002, pidStart: '1' });
  };

  it('recovers what a dead session left and lists it', async () => {
    deadSession();
    const { runs } = await ask('runs', { folder: dirname(file) });
    assert.equal(runs.length, 1);
    const { name, number, calls, errors, holds, tokens, live, duration } = runs[0]!;
    assert.deepEqual(
      { name, number, calls, errors, holds, tokens, live, duration },
      {
        name: 'support_agent',
        number: 1,
        calls: 4,
        errors: 1,
        holds: 1,
        tokens: 120,
        live: false,
        duration: 10_000,
      },
    );
  });

  it('answers in one line, whatever signs are in it', async () => {
    const { error } = await raw('overview', { file: join(root, 'one\u2028two\u2029.db') });
    assert.match(error!.message, /one\u2028two\u2029/);
  });

  it('answers lanes, calls by range, search and errors', async () => {
    deadSession();
    recoverSpool(spool);
    const { lanes, end, buckets } = await ask('overview', { file, buckets: 10 });
    assert.deepEqual(
      lanes.map(({ name, depth }) => [name, depth]),
      [
        ['support_agent', 3],
        ['support_agent › check_stock', 1],
        // Says that the session died.
        ['app.py', 1],
      ],
    );
    assert.equal(end, 10_000);
    assert.equal(
      buckets.reduce((sum, bucket) => sum + bucket.calls, 0),
      4,
    );
    assert.deepEqual(buckets.map((bucket) => bucket.held).indexOf(true), 2);
    const all = await ask('calls', { file, from: 0, to: 10_000, minimum: 0, limit: 100 });
    assert.deepEqual(
      all.calls.map(({ id, depth, state }) => [id, depth, state]),
      [
        ['1.1', 0, 'returned'],
        ['e4', 0, 'returned'],
        ['1.2', 1, 'returned'],
        ['1.3', 2, 'returned'],
        ['1.4', 0, 'error'],
      ],
    );
    assert.deepEqual(all.calls[3]!.holds, [{ start: 2100, end: 3000, description: 'Paused before tool' }]);
    assert.equal(all.calls[3]!.edited, true);
    const range = await ask('calls', { file, from: 4500, to: 4600, minimum: 2000, limit: 100 });
    assert.deepEqual([range.calls.map(({ id }) => id), range.left], [['1.1', '1.2'], 1]);
    const { lines } = await ask('lines', { file, ids: ['1.3', '1.999', 'x', '1.4'] });
    assert.deepEqual(Object.keys(lines[0]!), ['arguments', 'result']);
    assert.deepEqual(lines.slice(1, 3), [{}, {}]);
    assert.deepEqual(Object.keys(lines[3]!), ['arguments', 'error']);
    const found = await ask('search', { file, text: 'LOOK', limit: 10 });
    assert.deepEqual([found.calls.map(({ name }) => name), found.total], [['lookup_order'], 1]);
    assert.equal((await ask('errorNear', { file, time: 0, direction: 'next' })).call?.id, '1.4');
    assert.equal((await ask('errorNear', { file, time: 0, direction: 'previous' })).call, undefined);
  });

  it('keeps errors and the longest calls when there are too many, and says where a node goes on to', async () => {
    const many = new SpoolFile(PROCESS).add(1, 1, 'node', 'n', 'n', 'm', null, 1, 1).add(2, 1, 'agent', 0);
    for (let call = 1; call <= 50; call++) {
      many
        .add(3, call, 0, 1, 1, 1000 * call, dict({}), null)
        .add(4, call, 1000 * call + (call === 40 ? 900 : call), call === 30 ? 1 : 0, null, null);
    }
    many.add(6, 60_000, 'route', 40, dict({ to: ['tools', 'review'] })).write(spool);
    writeOwner(spool, { runFile: file, run: 'a', session: 's', name: 'triage.py', pid: 4000002, pidStart: '1' });
    recoverSpool(spool);
    const { calls, left } = await ask('calls', { file, from: 0, to: 100_000, minimum: 0, limit: 2 });
    assert.deepEqual([calls.map(({ id }) => id), left], [['e2', '1.30', '1.40'], 48]);
    // What a search finds in a window, which is told in nanoseconds.
    const there = await ask('search', { file, text: 'n', limit: 2, query: { from: 20_000, to: 22_500 } });
    assert.deepEqual([there.calls.map(({ start }) => start), there.total], [[20_000, 21_000], 3]);
    assert.deepEqual(
      (await ask('call', { file, id: '1.40' })).events.map(({ text }) => text),
      ['Goes on to tools, review'],
    );
  });

  it('shows a call as a person reads it', async () => {
    deadSession();
    recoverSpool(spool);
    const tool = await ask('call', { file, id: '1.3' });
    assert.deepEqual(
      tool.path.map(({ name }) => name),
      ['support_agent', 'tools', 'lookup_order'],
    );
    assert.deepEqual(tool.source, { path: '/app/triage.py', line: 12 });
    assert.deepEqual(
      tool.events.map(({ text }) => text),
      ['Held: Paused before tool', 'Edited: lookup_order: order_id 7 → 70', 'Released by vscode'],
    );
    const { nodes } = await ask('value', { file, value: tool.input!.value, path: [], start: 0, count: 10 });
    assert.deepEqual(
      nodes.map(({ name, text, mark }) => [name, text, mark]),
      [
        ['order_id', '7', undefined],
        ['region', "'eu'", undefined],
        ['key', '***', 'Masked: key holds a secret.'],
      ],
    );
    const node = await ask('call', { file, id: '1.2' });
    assert.deepEqual(node.changes, [
      { change: 'added', path: 'messages[1]', after: 'ai: → lookup_order, check_stock' },
      { change: 'changed', path: 'verdict', before: "''", after: "'scored'" },
      { change: 'added', path: 'visits[1]', after: "'agent'" },
      { change: 'removed', path: 'old', before: '1' },
    ]);
    const messages = await ask('value', {
      file,
      value: node.stateAfter!.value,
      path: ['messages'],
      start: 0,
      count: 10,
    });
    assert.deepEqual(
      messages.nodes.map(({ text }) => text),
      ['human: please refund order 7', 'ai: → lookup_order, check_stock'],
    );
    assert.equal(node.messages?.at(-1)?.text, "→ lookup_order(order_id=7, with=['lines']), check_stock");
    assert.deepEqual(node.attributes[0], { name: 'gen_ai.usage.input_tokens', value: '100' });
    const failed = await ask('call', { file, id: '1.4' });
    assert.deepEqual(
      [failed.error?.type, failed.error?.message, failed.error?.stack],
      ['ValueError', 'amount 700 needs approval', [{ path: '/app/triage.py', line: 33, function: 'refund' }]],
    );
    assert.equal(
      (await ask('copy', { file, value: tool.output!.value, path: [], format: 'python' })).text,
      "{'state': 'sent', 'price': 3.0, 'pair': (1, None)}",
    );
    assert.deepEqual(
      JSON.parse((await ask('copy', { file, value: tool.output!.value, path: [], format: 'json' })).text),
      { state: 'sent', price: 3, pair: [1, null] },
    );
  });

  it('tells the calls around one to the outermost, and how many are left out of very many', async () => {
    const run = new SpoolFile(PROCESS)
      .add(1, 1, 'function', 'down', 'app.down', 'app', '/app.py', 1, 2)
      .add(2, 1, '', 0);
    for (let level = 1; level <= 1203; level++) run.add(3, level, level - 1, 1, 1, level * 10, dict({}), null);
    run.write(spool);
    writeOwner(spool, { runFile: file, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' });
    recoverSpool(spool);
    for (const [id, left] of [
      [3, undefined],
      [1000, undefined],
      [1203, { at: 500, levels: 203 }],
    ] as const) {
      // prettier-ignore
      const { path, pathLeft } = await ask('call', { file, id: `1.${id}` });
      assert.deepEqual(pathLeft, left);
      const outer = left === undefined ? id : 500;
      const ids = Array.from({ length: id }, (_, index) => `1.${index + 1}`);
      assert.deepEqual(
        path.map((step) => step.id),
        left === undefined ? ids : [...ids.slice(0, outer), ...ids.slice(-500)],
      );
    }
  });

  it('tells of changes while a run is recorded', async () => {
    const recorder = openRecorder({
      runFile: file,
      spoolFolder: spool,
      run: 'a',
      session: 's',
      name: 'triage.py',
      onProblem: assert.fail,
      indexFor: () => 1,
    });
    await recorder.sync();
    await ask('follow', { file });
    const news = new Promise<void>((resolve) => changed.push(resolve));
    agentRun().write(spool);
    await news;
    await recorder.sync();
    const { run } = await ask('overview', { file, buckets: 1 });
    assert.deepEqual([run.calls, run.live, run.name], [4, true, 'support_agent']);
    await recorder.close();
    assert.equal((await ask('overview', { file, buckets: 1 })).run.live, false);
  });

  it('tells when a file that is not there yet comes, and has no answer until its run is written down', async () => {
    await ask('follow', { file });
    assert.match((await raw('overview', { file, buckets: 1 })).error!.message, /does not exist/);
    const news = new Promise<void>((resolve) => changed.push(resolve));
    mkdirSync(dirname(file), { recursive: true });
    const db = openForWriting(file);
    await news;
    assert.match((await raw('overview', { file, buckets: 1 })).error!.message, /a\.db is empty/);
    const more = new Promise<void>((resolve) => changed.push(resolve));
    const sql = prepare(db);
    sql.insertRun.run('a', 's', 'triage.py', 1n, 0n, BigInt(process.pid), startMark(process.pid), null);
    await more;
    assert.equal((await ask('overview', { file, buckets: 1 })).run.live, true);
    db.close();
  });

  it('answers nonsense with a sentence and lives on', async () => {
    deadSession();
    recoverSpool(spool);
    const foreign = join(dirname(file), 'b.db');
    writeFileSync(foreign, 'no database at all, just text '.repeat(100));
    assert.match((await raw('overview', { file: foreign, buckets: 3 })).error!.message, /b\.db is damaged/);
    assert.match((await raw('overview', { file: join(root, 'none.db'), buckets: 3 })).error!.message, /does not exist/);
    assert.match((await raw('call', { file, id: '1.999' })).error!.message, /There is no call 1\.999/);
    assert.match((await raw('constructor', {})).error!.message, /knows no "constructor"/);
    const { runs } = await ask('runs', { folder: dirname(file) });
    assert.equal(runs.filter((run) => run.problem !== undefined).length, 1);
    const methods = fc.constantFrom(
      'overview',
      'calls',
      'call',
      'lines',
      'value',
      'text',
      'copy',
      'search',
      'errorNear',
      'follow',
      'unfollow',
      'x',
    );
    const params = fc.record(
      {
        file: fc.oneof(fc.constant(file), fc.string()),
        value: fc.oneof(fc.integer(), fc.double()),
        path: fc.oneof(fc.array(fc.string()), fc.string()),
        id: fc.string(),
        ids: fc.oneof(fc.array(fc.oneof(fc.string(), fc.constant('1.1'))), fc.string()),
        start: fc.double(),
        count: fc.double(),
        from: fc.double(),
        to: fc.double(),
        minimum: fc.integer(),
        limit: fc.integer(),
        buckets: fc.double(),
        text: fc.string(),
        kinds: fc.oneof(fc.array(fc.string()), fc.integer()),
        time: fc.double(),
        direction: fc.constantFrom('next', 'previous', 'up'),
        format: fc.constantFrom('json', 'python', 'xml'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(methods, params, async (method, given) => {
        const answer = await raw(method, given);
        assert.ok((answer.result === undefined) !== (answer.error === undefined));
        assert.doesNotMatch(answer.error?.message ?? '', /could not be read|\n/);
      }),
      { numRuns: 300 },
    );
  });
});
