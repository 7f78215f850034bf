import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Query, QueryAnswer } from '../../protocol/query';
import { damageText } from '../../protocol/timeline';
import { runQuery } from '../../adapter/store/query/query';
import { callTree } from '../../adapter/store/query/tree';
import { summaryOf } from '../../adapter/store/reader/folder';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

describe('query: a damaged run', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => void (project = new RecordedProject()));
  after(() => project.remove());

  it('that lacks a page tells all calls and events of the others, and never that these are all', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 'keep', 'keep', 'm', '/app/m.py', 1, 1);
    for (let id = 1; id <= 5000; id++)
      spool.add(3, id, 0, 1, 1, 2000 + id * 10, dict({ n: id }), null).add(4, id, 2005 + id * 10, 0, id, null);
    const printed = Array.from({ length: 300 }, (_, index) => ({
      name: 'output',
      data: { category: 'stdout', text: `line ${index} ${'x'.repeat(60)}\n` },
      wall: 1_700_000_012_000_000_000n,
    }));
    const file = project.record('many', [spool], printed);
    const db = new Database(file);
    const leaves = (table: string): number[] =>
      db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").pluck().all(table) as number[];
    const pages = { chunks: leaves('chunks'), events: leaves('events') };
    db.close();
    const whole = readFileSync(file);
    const torn = project.fileOf('lacking');
    const without = (page: number): void => {
      const bytes = Buffer.from(whole);
      bytes.fill(0xa5, (page - 1) * 4096, page * 4096);
      writeFileSync(torn, bytes);
    };
    const all = (query: Query): QueryAnswer => {
      const answers = [runQuery([torn], { limit: 500, ...query })];
      for (let cursor = answers[0]!.cursor; cursor !== undefined; cursor = answers.at(-1)!.cursor)
        answers.push(runQuery([torn], { limit: 500, ...query, cursor }));
      assert.ok(answers.every(({ more, problems }) => problems.length === 0 || !more.exact));
      const problems = [...new Set(answers.flatMap((one) => one.problems))];
      return { ...answers[0]!, rows: answers.flatMap(({ rows }) => rows), problems };
    };
    assert.ok(pages.chunks.length > 0 && pages.events.length > 2);
    for (const page of pages.chunks) {
      without(page);
      for (const order of ['start', '-start', 'duration', '-duration'] as const) {
        const { rows, problems } = all({ order });
        assert.match(
          problems.join('\n'),
          /^The run file .*lacking\.db is damaged: [\d,]+ calls cannot be read, and may be missing here\.$/,
        );
        const lost = Number(/([\d,]+) calls/.exec(problems[0]!)![1]!.replaceAll(',', ''));
        assert.equal(rows.length, 5000 - lost, order);
      }
      assert.match(callTree(torn, 10_000).problems.join(), /is damaged: [\d,]+ calls cannot be read/);
    }
    for (const page of pages.events) {
      without(page);
      assert.equal(all({}).rows.length, 5000);
      const { rows, problems } = all({ types: ['output'] });
      const lost = Number(/ (\d+) events? cannot be read/.exec(problems.join('\n'))?.[1]);
      assert.equal(rows.length, 300 - lost, problems.join('\n'));
    }
    assert.match(project.toolbreak('query', torn, '--type', 'crash').stdout, /^Nothing that can be read matches\.\n$/);
    // Those that say how it ended.
    without(pages.events.at(-1)!);
    const summary = summaryOf(torn);
    assert.deepEqual([summary.torn, summary.problem, summary.calls], [true, undefined, 5000]);
    assert.equal(damageText(summary), 'file damaged');
  });

  it('of which a bit was lost says so, and tells no value that was not there', () => {
    const text = (id: number): string => `order ${id} ${'of a customer who waits '.repeat(id % 20 === 0 ? 40 : 1)}`;
    const spool = new SpoolFile('4000002-abc').add(1, 1, 'tool', 'keep', 'keep', 'm', '/app/m.py', 1, 1);
    for (let id = 1; id <= 400; id++)
      spool
        .add(3, id, 0, 1, 1, 2000 + id * 10, dict({ n: id, note: text(id) }), null)
        .add(4, id, 2005 + id * 10, 0, dict({ id, kept: text(id + 7) }), null);
    const file = project.record('flipped', [spool]);
    const all = (): { rows: Map<string, string>; problems: string[] } => {
      const rows = new Map<string, string>();
      const problems: string[] = [];
      let cursor: string | undefined;
      do {
        const answer = runQuery([file], { limit: 500, values: true, ...(cursor === undefined ? {} : { cursor }) });
        for (const row of answer.rows) if (row.type === 'call') rows.set(row.call.id, JSON.stringify(row));
        problems.push(...answer.problems);
        ({ cursor } = answer);
      } while (cursor !== undefined);
      return { rows, problems };
    };
    const whole = all();
    assert.deepEqual([whole.rows.size, whole.problems], [400, []]);
    const db = new Database(file);
    const places = [
      ['chunks', 'heads'],
      ['chunks', 'bodies'],
      ['values', 'bytes'],
    ].flatMap(([table, column]) =>
      db
        .prepare<[], { id: number; bytes: Buffer }>(`SELECT id, ${column} AS bytes FROM "${table}"`)
        .all()
        .map((row) => ({ ...row, put: db.prepare(`UPDATE "${table}" SET ${column} = ? WHERE id = ?`) })),
    );
    assert.ok(places.length > 15);
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    let [told, lost] = [0, 0];
    for (let turn = 0; turn < 120; turn++) {
      const { id, bytes, put } = places[turn % 2 === 0 ? random(2) : random(places.length)]!;
      const flipped = Buffer.from(bytes);
      flipped[random(bytes.length)]! ^= 1 << random(8);
      put.run(flipped, id);
      const { rows, problems } = all();
      for (const [name, row] of rows) {
        if (row === whole.rows.get(name)) continue;
        assert.match(row, /"\$mark":"unreadable"|damaged/, row);
        told++;
      }
      if (rows.size < 400) {
        assert.match(problems.join(), /damaged/);
        lost++;
      }
      put.run(bytes, id);
    }
    db.close();
    assert.ok(told > 10 && lost > 10, `${told} told, ${lost} lost`);
    assert.deepEqual(all(), whole);
  });

  it('whose only block is gone says so, and is not exported', () => {
    const spool = new SpoolFile('4000003-abc').add(1, 1, 'tool', 'keep', 'keep', 'm', '/app/m.py', 1, 1);
    for (let id = 1; id <= 20; id++)
      spool.add(3, id, 0, 1, 1, 2000 + id * 10, dict({ n: id }), null).add(4, id, 2005 + id * 10, 0, id, null);
    const file = project.record('gone', [spool]);
    const db = new Database(file);
    const [table, index] = ['chunks', 'chunks_by_version'].map(
      (name) =>
        db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").pluck().get(name) as number,
    );
    db.close();
    const whole = readFileSync(file);
    const torn = project.fileOf('torn');
    for (const pages of [[table!], [index!], [table!, index!]]) {
      const bytes = Buffer.from(whole);
      // As many cells as a lost bit leaves of one.
      for (const page of pages) bytes.writeUInt16BE(0, (page - 1) * 4096 + 3);
      writeFileSync(torn, bytes);
      const { rows, more, problems } = runQuery([torn], {});
      assert.deepEqual([rows.length, more.exact], [0, false]);
      assert.match(problems.join(), /is damaged: 20 calls cannot be read, and may be missing here\.$/);
      const out = project.fileOf('exported');
      for (const format of [[], ['--format', 'otlp'], ['--format', 'perfetto']]) {
        const told = project.toolbreak('export', torn, ...format, '-o', out);
        assert.match(told.stderr, /is damaged in a part, and cannot be exported/);
        assert.equal(existsSync(out), false);
      }
    }
    writeFileSync(torn, whole);
    const flipped = new Database(torn);
    const block = flipped.prepare('SELECT bodies FROM chunks').pluck().get() as Buffer;
    block[block.length >> 1]! ^= 4;
    flipped.prepare('UPDATE chunks SET bodies = ?').run(block);
    flipped.close();
    for (const format of ['otlp', 'perfetto']) {
      const told = project.toolbreak('export', torn, '--format', format, '-o', project.fileOf('other'));
      assert.match(told.stderr, /is damaged in a part, and cannot be exported/);
      assert.equal(existsSync(project.fileOf('other')), false);
    }
  });
});
