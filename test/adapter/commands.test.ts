import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { QueryAnswer } from '../../protocol/query';
import { fit } from '../../adapter/doors/commands/text';
import { SetValue, Dict, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { AGENT_EVENTS, agentSpool, RecordedProject } from './recorded';

describe('commands: runs, show, query, check', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  let file: string;

  before(() => {
    project = new RecordedProject();
    file = project.record('first', [agentSpool()], AGENT_EVENTS);
    project.record('second', [agentSpool()]);
    const other = join(project.state, 'toolbreak', 'projects', 'garden-0123456789', 'runs');
    project.record('weeds', [agentSpool()], [], other);
  });
  after(() => project.remove());

  /** What is printed when all goes well. */
  function said(...args: string[]): string {
    const { stdout, stderr, status } = project.toolbreak(...args);
    assert.equal(stderr, '');
    assert.equal(status, 0);
    for (const line of stdout.split('\n')) assert.ok([...line].length <= 120, line);
    return stdout;
  }
  function refused(status: number, ...args: string[]): string {
    const answer = project.toolbreak(...args);
    assert.equal(answer.status, status, answer.stderr);
    assert.equal(answer.stdout, '');
    return answer.stderr.trim();
  }
  const json = (...args: string[]): unknown => JSON.parse(project.toolbreak(...args, '--json').stdout);

  it('runs lists what was recorded, newest first', () => {
    const lines = said('runs').split('\n');
    assert.match(lines[0]!, /^RUN +NAME +STARTED +LENGTH +CALLS$/);
    assert.match(lines[1]!, /^2 +support_agent +2023-11-1\d \d\d:\d\d:\d\d +10 s +5 calls, 1 error$/);
    assert.match(lines[2]!, /^1 +support_agent /);
    assert.equal(lines.length, 4);
    assert.match(said('runs', '--all'), /garden: support_agent/);
    assert.match(refused(2, 'show', '1', ''), /It is empty\./);
    const listed = json('runs') as {
      run: string;
      number: number;
      calls: number;
      duration: number;
      startedAt: string;
    }[];
    assert.equal(listed[1]!.startedAt, '2023-11-14T22:13:29.999999000Z');
    assert.deepEqual(
      listed.map(({ run, number, calls, duration }) => [run, number, calls, duration]),
      [
        ['second', 2, 5, 10e9],
        ['first', 1, 5, 10e9],
      ],
    );
    assert.match(
      project.toolbreak('runs', '--project', project.root).stdout,
      /^No run of .* is recorded here\. .*--all\.\n$/,
    );
  });

  it('show draws a run as a tree', () => {
    assert.equal(
      said('show', '1').replace(/\d{4}-.*/, 'THEN'),
      `run 1 · support_agent · 10 s · 5 calls · 1 error · 1 hold · 120 tokens · crashed · THEN
1.1      10 s      workflow support_agent(question='please refund order 7') → {'messages': list (2)…
1.2      5 s       ├─ node tools(messages=list (1), verdict='', visits=['start']) → {'messages': li…
1.3      2 s       │  ├─ tool lookup_order(order_id=7, region='eu', key=***) [edited, held 900 ms] …
1.4      3 ms      │  └─ tool ✗ refund(amount=700): ApprovalNeeded: amount 700 needs approval
1.5      500 us    └─ tool lookup_order(order_id=8, region='us')
`,
    );
    assert.match(said('show', 'first', '--limit', '2'), /\n3 more: --limit, or "toolbreak query" to find some\.\n$/);
    const { tree, more } = json('show', file) as { tree: { below: unknown[] }[]; more: unknown };
    assert.deepEqual([tree.length, tree[0]!.below.length, more], [1, 2, { count: 0, exact: true }]);
  });

  it('show tells all of one call', () => {
    const refund = said('show', '1', 'refund');
    assert.match(
      refund,
      /^tool refund, ✗ failed after 3 ms\nsupport_agent › tools › refund\ncall 1\.4 of run 1 \(support_agent\), /,
    );
    assert.match(
      refund,
      /\n\/app\/shop\/tools\.py:30\n\nError\n {2}ApprovalNeeded: amount 700 needs approval\n {4}\/app\/shop\/tools\.py:33 in refund\n {4}limit = 500\n\nArguments\n {2}amount = 700\n$/,
    );
    const held = said('show', '1', '1.3');
    assert.match(held, /Arguments\n {2}order_id = 7\n {2}region = 'eu'\n {2}key = \*\*\* {2}\(Masked: a secret\.\)\n/);
    assert.match(held, /Edited\n {2}order_id 7 → 70\n/);
    assert.match(held, /Events\n {2}\+2\.100 s {2}Held: Paused before tool\n/);
    assert.match(
      said('show', 'last', 'tools'),
      /Changes\n {2}\+ messages\[1\] ai: done\n {2}~ verdict '' → 'scored'\n/,
    );
    const whole = json('show', '1', '1.3') as Record<string, unknown>;
    assert.deepEqual(whole['arguments'], {
      order_id: 7,
      region: 'eu',
      key: { $mark: 'masked', reason: 'Masked: a secret.' },
    });
    assert.deepEqual(whole['result'], { state: 'sent', price: 3, lines: [{ 'a b': 'x"y' }] });
    assert.equal(whole['at'], '2023-11-14T22:13:31.999999000Z');
  });

  it('query prints a line for each, and goes on where it stopped', () => {
    assert.equal(
      said('query', '1', '--type', 'call,output,crash', '--from', '+2s'),
      `AT           CALL     LENGTH    KIND      WHAT
+2.000 s     1.3      2 s       tool      lookup_order(order_id=7, region='e…) [edited, held 900 ms…
+2.000 s                        output    stdout: looking up order 7
+4.000 s     1.4      3 ms      tool      ✗ refund(amount=700): ApprovalNeeded: amount 700 needs ap…
+7.000 s     1.5      500 us    tool      lookup_order(order_id=8, region='us')
+9.000 s                        crash     ✗ Process 4000001 (app.py) crashed
`,
    );
    const first = said('query', '1', '--limit', '2', '--order', '-duration');
    const cursor = /^3 more\.\nGo on: --cursor (\S+)\n$/m.exec(first)?.[1];
    assert.ok(cursor, first);
    assert.match(
      said('query', '1', '--order', '-duration', '--cursor', cursor),
      /\+2\.000 s[^]*\+4\.000 s[^]*\+7\.000 s/,
    );
    assert.match(said('query', '1', '--name', 'nobody'), /^Nothing matches\.\n/);
  });

  it('what was cut before, and is cut again, ends with one sign of it', () => {
    assert.equal(fit('rows=list (9)…, name=…, limit=5', 23), 'rows=list (9)…, name=…');
    assert.equal(fit('rows=list (9)…', 14), 'rows=list (9)…');
    assert.equal(fit('rows=list (9)', 12), 'rows=list (…');
  });

  it('query tells events whole, and as much of what was printed as COLUMNS says', () => {
    const logs = new RecordedProject();
    const before = process.env['COLUMNS'];
    try {
      const wall = 1_700_000_012_000_000_000n;
      const text = 'order_id 7 → 70, '.repeat(20);
      logs.record(
        'one',
        [agentSpool()],
        [
          { name: 'edited', data: { text }, wall },
          { name: 'output', data: { category: 'stdout', text: 'x'.repeat(1500) }, wall },
        ],
      );
      // Without a terminal and a word about its width, whoever reads it mostly wants it whole.
      for (const columns of [70, 130, 1000]) {
        process.env['COLUMNS'] = columns === 1000 ? '' : String(columns);
        const { stdout } = logs.toolbreak('query', '1', '--type', 'event,output');
        assert.ok(stdout.includes(text.trim()), stdout);
        assert.equal(stdout.split('\n').find((line) => line.includes('stdout: x'))?.length, columns, stdout);
      }
    } finally {
      if (before === undefined) delete process.env['COLUMNS'];
      else process.env['COLUMNS'] = before;
      logs.remove();
    }
  });

  it('query prints output of several runs like the end of a log, and calls of several the newest first', () => {
    const logs = new RecordedProject();
    try {
      const line = (text: string, second: number) => ({
        name: 'output',
        data: { category: 'stdout', text: `${text}\n` },
        wall: 1_700_000_000_000_000_000n + BigInt(second) * 1_000_000_000n,
      });
      logs.record('one', [agentSpool()], [line('first', 12), line('second', 13)]);
      logs.record('two', [agentSpool()], [line('third', 14), line('fourth', 15)]);
      const asked = (...args: string[]): string => logs.toolbreak('query', ...args).stdout;
      const read = (text: string): string[] => [...text.matchAll(/stdout: (\w+)/g)].map(([, word]) => word!);
      const newest = asked('--type', 'output', '--limit', '3');
      assert.deepEqual(read(newest), ['second', 'third', 'fourth']);
      const cursor = /^1 earlier\.\nGo on: --cursor (\S+)\n$/m.exec(newest)?.[1];
      assert.ok(cursor, newest);
      assert.deepEqual(read(asked('--type', 'output', '--limit', '3', '--cursor', cursor)), ['first']);
      assert.deepEqual(read(asked('--type', 'output', '--order', '-start')), ['fourth', 'third', 'second', 'first']);
      for (const one of [['one'], ['one', '1']])
        assert.deepEqual(read(asked(...one, '--type', 'output')), ['first', 'second']);
      const calls = [...asked('--limit', '4').matchAll(/ (1\.\d) /g)].map(([, call]) => call);
      assert.deepEqual(calls, ['1.5', '1.5', '1.4', '1.4']);
    } finally {
      logs.remove();
    }
  });

  it('query takes every field, over all runs of a project or of all projects', () => {
    const ids = (...args: string[]): string[] =>
      (json('query', ...args) as QueryAnswer).rows.map(
        (row) => `${row.run} ${row.type === 'call' ? row.call.id : row.type}`,
      );
    assert.deepEqual(ids('--name-is', 'refund').toSorted(), ['first 1.4', 'second 1.4']);
    assert.deepEqual(ids('--all', '--name-is', 'refund').length, 3);
    assert.deepEqual(
      ids(
        '1',
        '--kind',
        'tool,node',
        '--status',
        'returned',
        '--file',
        'tools.py',
        '--min-duration',
        '1s',
        '--task',
        'support',
      ),
      ['first 1.3'],
    );
    const where = ['--where', 'argument.order_id equals 8', '--where', 'argument.region ~ ^u'];
    assert.deepEqual(ids('1', '2', ...where).toSorted(), ['first 1.5', 'second 1.5']);
    assert.deepEqual(ids('first', '--error', 'ApprovalNeeded', '--text', 'AMOUNT 700', '--process', '4000001'), [
      'first 1.4',
    ]);
    assert.deepEqual(ids(file, '--name-regex', '^(tools|x)$', '--from', '2023-11-14T22:13:30Z', '--to', '-1s'), [
      'first 1.2',
    ]);
    assert.deepEqual(ids('1', '--type', 'crash'), ['first crash']);
    assert.deepEqual(ids('1', '--kind', 'agent,model'), ['first 1.1']);
  });

  it('query --values has what show has of each call, as far as an answer has room', () => {
    const { rows } = json('query', '1', '--values') as QueryAnswer;
    assert.ok(rows.length > 3);
    for (const row of rows) {
      assert.ok(row.type === 'call');
      const shown = json('show', '1', row.call.id) as Record<string, unknown>;
      const { arguments: given, result, error, stateBefore, stateAfter } = row.values!;
      assert.deepEqual(
        { given, result, stateBefore, stateAfter },
        {
          given: shown['arguments'],
          result: shown['result'],
          stateBefore: shown['stateBefore'],
          stateAfter: shown['stateAfter'],
        },
      );
      assert.equal(error === undefined, shown['error'] === undefined);
      if (error !== undefined)
        assert.equal((error as { type: string }).type, (shown['error'] as { type: string }).type);
    }
    const spool = new SpoolFile('4000002-abc')
      .add(1, 1, 'tool', 'read', 'read', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0);
    for (let call = 1; call <= 10; call++)
      spool
        .add(3, call, 0, 1, 1, 2000 + call * 10, dict({ page: call }), null)
        .add(4, call, 2005 + call * 10, 0, 'x'.repeat(999_000), null);
    const path = project.record('pages', [spool], [], join(project.root, 'pages'));
    // Each page ends before what has no room; the first row of one has its values in any case.
    const lengths: number[][] = [];
    let cursor: string | undefined;
    do {
      const answer = json(
        'query',
        path,
        '--values',
        ...(cursor === undefined ? [] : ['--cursor', cursor]),
      ) as QueryAnswer;
      lengths.push(answer.rows.map((row) => (row.type === 'call' ? String(row.values!.result).length : 0)));
      assert.equal(answer.more.count, 10 - lengths.flat().length);
      ({ cursor } = answer);
    } while (cursor !== undefined);
    assert.deepEqual(lengths, [Array<number>(8).fill(999_000), Array<number>(2).fill(999_000)]);
    assert.equal(
      (json('query', '1') as QueryAnswer).rows.some((row) => 'values' in row),
      false,
    );
  });

  it('check says that a run is whole, or what is damaged', () => {
    assert.match(
      said('check', '1'),
      /^Run 1 \(support_agent\) is whole\.\nRead: 5 calls, 3 shared values, 5 events, 1 hold, 4 functions, 2 tasks, 1 process\.\n$/,
    );
    const broken = project.record('broken', [agentSpool()]);
    const db = new Database(broken);
    db.exec(`DELETE FROM functions WHERE name = 'refund'`);
    db.close();
    const { status, stdout } = project.toolbreak('check', 'broken');
    assert.equal(status, 1);
    assert.match(
      stdout,
      /^Run 3 \(support_agent\) is damaged\.\n {2}✗ There are calls of a function that is not there \(1\): 1\.4\nRead: 5 calls/,
    );
    const { whole } = JSON.parse(project.toolbreak('check', broken, '--json').stdout) as { whole: boolean };
    assert.equal(whole, false);
    assert.match(said('query', broken, '--text', '700'), /1\.4 .* \?\(amount=700\)|✗ \?\(amount=700\)/);
  });

  it('keep, check and delete say which run they mean: its number and name, or the path of one from elsewhere', () => {
    assert.equal(said('keep', 'first'), 'Run 1 (support_agent) is kept.\n');
    assert.match(said('runs'), /^1 +support_agent .* 5 calls, 1 error, crashed, kept$/m);
    assert.doesNotMatch(said('runs'), /^2 .*kept/m);
    assert.equal(said('keep', '1', '--not'), 'Run 1 (support_agent) is not kept any more.\n');
    assert.doesNotMatch(said('runs'), /kept/);
    const elsewhere = join(project.root, 'elsewhere');
    const path = project.record('moved', [agentSpool()], [], elsewhere);
    assert.equal(said('keep', path), `${path} is kept.\n`);
    assert.equal(said('keep', path, '--not'), `${path} is not kept any more.\n`);
    const fourth = project.record('fourth', [agentSpool()]);
    const { number } = (json('runs') as { run: string; number: number }[]).find(({ run }) => run === 'fourth')!;
    assert.match(
      said('delete', fourth),
      new RegExp(String.raw`^Deleted run ${number} \(support_agent\), [\d.]+ [kM]B\.\n$`),
    );
    const name = `unread-${'0'.repeat(40)}`;
    const unread = project.fileOf(name);
    writeFileSync(unread, 'hello');
    try {
      assert.match(project.toolbreak('check', name).stdout, /^Run unread-0+ is damaged\.\n/);
      // Whole, since that is what it is named by.
      assert.match(project.toolbreak('runs').stdout, new RegExp(`^- +${name} The run file .* is damaged\\.$`, 'm'));
    } finally {
      rmSync(unread);
    }
  });

  it('an empty value is shown as Python writes it', () => {
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'nothing', 'nothing', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ a: dict({}), b: [], c: new Tuple([]) }), null)
      .add(4, 1, 3000, 0, dict({}), null);
    const path = project.record('empty', [spool], [], join(project.root, 'empty'));
    assert.match(said('show', path), /tool nothing\(a=\{\}, b=\[\], c=\(\)\) → \{\}\n$/);
    assert.match(
      said('show', path, '1.1'),
      /Arguments\n {2}a = \{\}\n {2}b = \[\]\n {2}c = \(\)\n\nResult\n {2}\{\}\n$/,
    );
  });

  it('a result says what it is where its parts do not: a dict is told by its names alone', () => {
    const results = [
      [1],
      new Tuple([1]),
      new SetValue([1], false),
      new Tagged('enum', ['shop.Colour', 'RED', 1]),
      dict({ a: [1] }),
    ];
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'give', 'give', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0);
    results.forEach((result, index) =>
      spool.add(3, index + 1, 0, 1, 1, 2000, dict({}), null).add(4, index + 1, 3000, 0, result, null),
    );
    const path = project.record('results', [spool], [], join(project.root, 'results'));
    const shown = results.map((_, index) => said('show', path, `1.${index + 1}`).split('\nResult\n')[1]);
    assert.deepEqual(shown, [
      '  list (1)\n    0 = 1\n',
      '  tuple (1)\n    0 = 1\n',
      '  set (1)\n    0 = 1\n',
      '  Colour.RED\n    value = 1\n',
      '  a = list (1)\n    0 = 1\n',
    ]);
  });

  it('a value that is the same as another one of its call says so, one without parts stands there again', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 'echo', 'm.echo', 'm', '/app/m.py', 1, 2);
    spool.add(1, 2, 'node', 'stay', 'm.stay', 'm', '/app/m.py', 3, 4).add(2, 1, 'main', 0);
    const state = dict({ x: 1, log: ['a'.repeat(100)] });
    spool.add(3, 1, 0, 1, 1, 2000, dict({ x: 1 }), null).add(4, 1, 2500, 0, dict({ x: 1 }), null);
    spool.add(3, 2, 0, 1, 1, 3000, dict({}), null).add(4, 2, 3500, 0, dict({}), null);
    spool.add(3, 3, 0, 2, 1, 4000, state, null).add(5, 3, 4100, 'before', state).add(5, 3, 4200, 'after', state);
    spool.add(4, 3, 4500, 0, state, null);
    const path = project.record('same', [spool]);
    assert.match(said('show', path, '1.1'), /\nArguments\n {2}x = 1\n\nResult\n {2}the same as the arguments\n$/);
    assert.match(said('show', path, '1.2'), /\nArguments\n {2}\{\}\n\nResult\n {2}\{\}\n$/);
    assert.match(
      said('show', path, '1.3'),
      /\nArguments\n {2}x = 1\n {2}log = list \(1\)\n {4}0 = 'a+…\n\nResult\n {2}the same as the arguments\n\nState before\n {2}the same as the arguments\n\nState after\n {2}the same as the arguments\n\nSome of it is left out here: --full shows all\.\n$/,
    );
  });

  it('the number of a call stands whole in a table, whose columns it widens', () => {
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'late', 'late', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 123456789, 0, 1, 1, 2000, dict({}), null)
      .add(4, 123456789, 3000, 0, null, null);
    const path = project.record('late', [spool], [], join(project.root, 'late'));
    const [head, line] = said('query', path).split('\n');
    assert.match(line!, / 1\.123456789 /);
    assert.equal(head!.indexOf('LENGTH'), line!.indexOf('1 us'), `${head}\n${line}`);
  });

  it('show --full prints texts, levels and marks to their end', () => {
    const long = `${'a'.repeat(150)}\n${'b'.repeat(5000)}END`;
    let deep: Value = 'bottom';
    for (let level = 0; level < 300; level++) deep = [deep];
    const cut = new Tagged('cut', ['bytes', Buffer.from('x'.repeat(300)), 9000, 'larger than the limit of 300 bytes']);
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'long', 'long', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ long, deep, cut }), null)
      .add(4, 1, 3000, 0, long, null);
    const path = project.record('long', [spool], [], join(project.root, 'long'));
    const full = project.toolbreak('show', path, '1.1', '--full').stdout;
    const quoted = `'${long.replace('\n', '\\n')}'`;
    assert.ok(full.includes(`  long = ${quoted}\n`));
    assert.ok(full.includes(`Result\n  ${quoted}\n`));
    assert.match(full, /\(level 301\) 0 = 'bottom'\n/);
    const mark = '  (Cut after 300 of 9000: larger than the limit of 300 bytes.)\n';
    assert.ok(full.includes(`cut = b'${'x'.repeat(300)}'… (9000 bytes)${mark}`));
    const short = said('show', path, '1.1');
    assert.match(short, /\n +… deeper levels: --full\n/);
    assert.ok(short.includes(mark));
    assert.doesNotMatch(short, /bottom|END/);
  });

  it('a call without an end ran at least until its caller went on, and never less than nothing', () => {
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'function', 'outer', 'outer', 'm', '/app/m.py', 1, 1)
      .add(1, 2, 'function', 'lost', 'lost', 'm', '/app/m.py', 2, 2)
      .add(1, 3, 'function', 'late', 'late', 'm', '/app/m.py', 3, 3)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2_000, dict({}), null)
      .add(3, 2, 1, 2, 1, 3_000, dict({}), null)
      .add(4, 1, 7_000, 0, null, null)
      .add(3, 3, 1, 3, 1, 9_000, dict({}), null)
      .add(3, 4, 0, 1, 1, 10_000, dict({}), null)
      .add(4, 4, 50_000, 0, null, null);
    const path = project.record('lost', [spool], [], join(project.root, 'lost'));
    const lengths = new Map(said('show', path).split('\n').slice(1, -1).map((line) => [line.slice(0, 3), line.slice(9, 18).trim()])); // prettier-ignore
    assert.deepEqual(lengths.get('1.2'), '≥ 4 us');
    assert.deepEqual(lengths.get('1.3'), '≥ 0 ns');
    assert.deepEqual(lengths.get('1.4'), '40 us');
    assert.match(said('show', path, '1.2'), /^function lost, ran for at least 4 us\n/);
    assert.equal(
      (JSON.parse(said('show', path, '1.2', '--json')) as { call: { unended: boolean } }).call.unended,
      true,
    );
  });

  it('a tree that has its most calls says that there are no more of them in one', () => {
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'function', 'step', 'step', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0);
    for (let id = 1; id <= 20_002; id++)
      spool.add(3, id, 0, 1, 1, 2_000 + 10 * id, dict({}), null).add(4, id, 2_005 + 10 * id, 0, null, null);
    const path = project.record('many', [spool], [], join(project.root, 'many'));
    assert.match(
      said('show', path, '--limit', '90000'),
      /\n2 more: a tree has 20,000 at most; "toolbreak query" to find some\.\n$/,
    );
  });

  it('a large argument hides no other one', () => {
    const list = Array.from({ length: 300 }, (_, index) => index);
    const cut = new Tagged('cut', ['dict', dict({ items: list, limit: 7, name: 'x' }), 5, 'larger than the limit']);
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'large', 'large', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, cut, null)
      .add(4, 1, 3000, 0, null, null);
    const path = project.record('large', [spool], [], join(project.root, 'large'));
    assert.match(said('show', path), /large\(items=list \(300\), limit=7, name='x', …\)/);
    assert.match(
      said('show', path, '1.1'),
      /Arguments\n {2}items = list \(300\)\n(?: {4}\d+ = \d+\n)+ {4}… more\n {2}limit = 7\n {2}name = 'x'\n {2}\(Cut after 3 of 5: larger than the limit\.\)\n/,
    );
  });

  it('a key that is a container or a cut text is shown, not only its type', () => {
    const keys = new Dict([
      [[dict({ a: 1 }), 2], 'list'],
      [dict({ b: [[[[1]]]] }), 'dict'],
      [new Tagged('cut', ['str', 'x'.repeat(500), 2_000_000, 'larger than the limit']), 'text'],
    ]);
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'keys', 'keys', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ keys }), null)
      .add(4, 1, 3000, 0, null, null);
    const path = project.record('keys', [spool], [], join(project.root, 'keys'));
    assert.match(
      said('show', path, '1.1'),
      / {4}\[\{'a': 1\}, 2\] = 'list'\n {4}\{'b': \[\[\[…\]\]\]\} = 'dict'\n {4}x+…x+… \(cut of 2000000 in all\) = 'text'\n/,
    );
  });

  it('an exported run is told from a damaged one', () => {
    const out = join(project.project, 'given.tbrun');
    assert.equal(project.toolbreak('export', 'first', '-o', out).status, 0);
    for (const name of ['given.tbrun', out])
      for (const command of ['show', 'check'])
        assert.equal(
          refused(1, command, name),
          `toolbreak: ${out} is an exported run. Take it in first: toolbreak import ${name}`,
        );
    rmSync(out);
  });

  it('the help of an option that may be repeated names no default of the program', () => {
    for (const command of ['run', 'feedback', 'query']) {
      const help = said(command, '--help').replace(/\s+/g, ' ');
      assert.match(help, /may be repeated|several with commas/);
      assert.doesNotMatch(help, /\[\]/, command);
    }
  });

  it('a mistake is one sentence and 1, wrong usage is 2', () => {
    assert.equal(
      refused(1, 'query', '9'),
      `toolbreak: There is no run 9 of ${project.project}. The newest are ${newest()}.`,
    );
    assert.match(refused(1, 'show', 'nobody'), /^toolbreak: There is no run nobody of /);
    assert.match(refused(1, 'show', '1', '7.7'), /^toolbreak: There is no call 7\.7 in this run\.$/);
    assert.equal(
      refused(1, 'show', '1', 'lookup_order'),
      `toolbreak: 2 calls are named lookup_order. Say which, by its number:
AT           CALL     LENGTH    KIND      WHAT
+2.000 s     1.3      2 s       tool      lookup_order(order_id=7, region='e…) [edited, held 900 ms…
+7.000 s     1.5      500 us    tool      lookup_order(order_id=8, region='us')`,
    );
    assert.match(refused(1, 'check', join(project.root, 'gone.db')), /^toolbreak: There is no file /);
    assert.match(
      refused(2, 'query', '1', '--status', 'dead'),
      /^toolbreak: --status cannot be "dead": it is one of running, returned, error, cancelled, skipped, interrupted\.$/,
    );
    assert.match(
      refused(2, 'query', '1', '--order', 'name'),
      /^toolbreak: --order cannot be "name": it is one of start, -start, duration, -duration\.$/,
    );
    assert.match(
      refused(2, 'query', '1', '--min-duration', '3 days'),
      /^toolbreak: --min-duration is a length of time in ns, us, ms, s, m, h or d, such as 200ms, 1\.5s or 2m\.$/,
    );
    assert.match(refused(2, 'show', '1', '--limit', '0'), /It is a whole number from 1 on\.$/);
    assert.match(refused(2, 'show', '1', '1.4', '--limit', '3'), /^toolbreak: --limit is for the tree of a run\./);
    assert.match(refused(2, 'show', '1', '--full'), /^toolbreak: --full is for one call: /);
    assert.match(refused(2, 'query', '1', '--limit', '0'), /^toolbreak: --limit is a whole number from 1 to 500\.$/);
    assert.match(
      refused(2, 'query', '1', '--kind', 'foo'),
      /^toolbreak: --kind cannot be "foo": it is one of workflow, /,
    );
    assert.match(refused(2, 'query', '1', '--values'), /^toolbreak: --values is for --json\. /);
    assert.match(refused(2, 'query', '1', '--name-regex', '('), /^toolbreak: "\(" is no regular expression: /);
    for (const option of ['--text', '--name', '--error', '--task', '--file', '--process', '--project'])
      assert.match(refused(2, 'query', '1', option, ''), /is invalid\. It is empty\.$/m, option);
    assert.match(refused(2, 'query', '1', '--cursor', 'x;y'), /^toolbreak: --cursor is not what an answer gave\./);
    assert.match(refused(2, 'query', '1', '--where', `argument["it's`), /is no condition\. Write it like/);
    assert.match(
      refused(1, 'query', '--project', join(project.root, 'nowhere')),
      /^toolbreak: No run of .*nowhere is recorded here\./,
    );
    const foreign = join(project.root, 'foreign.db');
    const db = new Database(foreign);
    db.exec('CREATE TABLE t (a)');
    db.close();
    const text = join(project.root, 'text.db');
    writeFileSync(text, 'hello');
    for (const command of ['show', 'query', 'check'])
      assert.match(refused(1, command, foreign), /^toolbreak: .*foreign\.db is not a Toolbreak run file\.$/);
    for (const command of ['show', 'query'])
      assert.match(refused(1, command, text), /^toolbreak: The run file .*text\.db is damaged\.$/);
    assert.match(refused(2, 'query', '1', '--limit', 'many'), /It is a whole number/);
    assert.match(refused(2, 'query', '--colour', 'red'), /unknown option '--colour'/);
    assert.match(refused(2, 'show'), /missing required argument 'run'/);
    assert.match(refused(2, 'shwo'), /unknown command 'shwo'/);
  });

  it('what an app wrote does not act on the terminal', () => {
    const marks = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'print', 'print', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ text: 'a\u009b31mb\u202ec\u001b[0m' }), null)
      .add(4, 1, 3000, 0, null, null);
    const acting = project.record('acting', [marks], [], join(project.root, 'acting'));
    const json = said('show', acting, '1.1', '--json');
    assert.doesNotMatch(json, /[\u001b\u007f-\u009f\u202a-\u202e]/);
    assert.equal((JSON.parse(json) as { arguments: { text: string } }).arguments.text, 'a\u009b31mb\u202ec\u001b[0m');
    assert.match(refused(1, 'show', '\u001b[31mx'), /^toolbreak: There is no run +\[31mx of /);
    const evil = '\u001b[2J\u001b]0;title\u0007\r\nrm -rf';
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', evil, evil, 'm', `/app/${evil}.py`, 1, 1)
      .add(2, 1, evil, 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ [evil]: evil }), null)
      .add(4, 1, 3000, 0, evil, null);
    const events = [{ name: 'output', data: { category: 'stdout', text: evil }, wall: 1_700_000_000_000_000_000n }];
    const path = project.record('evil', [spool], events, join(project.root, 'evil'));
    for (const args of [
      ['show', path],
      ['show', path, '1.1'],
      ['query', path, '--type', 'call,output,event'],
      ['check', path],
    ])
      assert.doesNotMatch(said(...args), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, args.join(' '));
  });

  function newest(): string {
    const runs = json('runs') as { number: number; name: string }[];
    return runs.map(({ number, name }) => `${number} (${name})`).join(', ');
  }
});
