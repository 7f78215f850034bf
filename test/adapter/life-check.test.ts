import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { globalId } from '../../adapter/store/callNames';
import { ARGS } from '../../adapter/store/chunks/chunk';
import { changeCalls } from '../support/run-file';
import { checkRun, type CheckReport } from '../../adapter/store/life/check';
import { dict, SpoolFile } from '../support/spool';
import { AGENT_EVENTS, agentSpool, RecordedProject } from './recorded';

describe('store: checking a run', function () {
  this.timeout(30_000);
  let project: RecordedProject;
  let file: string;

  beforeEach(() => {
    project = new RecordedProject();
    // A value of more than 256 bytes is stored on its own, and its name stands where it was.
    const large = new SpoolFile('4000002-abc')
      .add(1, 1, 'tool', 'big', 'big', 'm', null, 1, 1)
      .add(2, 1, 'worker', 0)
      .add(3, 1, 0, 1, 1, 2000, dict({ note: 'x'.repeat(1000), again: dict({ inner: 'y'.repeat(1000) }) }), null)
      .add(4, 1, 3000, 0, 'z', null);
    file = project.record('agent', [agentSpool(), large], AGENT_EVENTS);
  });
  afterEach(() => project.remove());

  const change = (...statements: string[]): void => {
    const db = new Database(file);
    for (const statement of statements) db.exec(statement);
    db.close();
  };
  const changeEach = (change: Parameters<typeof changeCalls>[1]): void => {
    const db = new Database(file);
    changeCalls(db, change);
    db.close();
  };
  const problems = (): string[] =>
    checkRun(file).problems.map(({ what, count, examples }) => `${what} (${count}): ${examples.join()}`);

  it('finds nothing wrong with one that is whole', () => {
    const report = checkRun(file);
    assert.deepEqual([report.whole, report.problems], [true, []]);
    const { calls, functions, events, holds } = report.readable;
    assert.deepEqual({ calls, functions, events, holds }, { calls: 6, functions: 5, events: 5, holds: 1 });
  });

  it('looks at one moment of a run that is being recorded', () => {
    const { recording, spool, file: live } = project.begin('live', [agentSpool()]);
    const { prepare } = Database.prototype;
    let grown = 0;
    /** A call of a function, a task and a block that were not there before. */
    const grow = (): void => {
      const number = ++grown;
      new SpoolFile(`40001${number.toString().padStart(2, '0')}-abc`)
        .add(1, 1, 'tool', 'late', 'late', 'm', null, 1, 1)
        .add(2, 1, 'worker', 0)
        .add(3, 1, 0, 1, 1, 2000 + number, dict({ number }), null)
        .write(spool);
      assert.equal(recording.pass().read, 4);
    };
    let growing = false;
    let report: CheckReport;
    try {
      // Between any two questions of the check.
      Database.prototype.prepare = function (this: Database.Database, sql: string) {
        if (this.readonly && !growing) {
          growing = true;
          grow();
          growing = false;
        }
        return prepare.call(this, sql);
      } as typeof prepare;
      report = checkRun(live);
    } finally {
      Database.prototype.prepare = prepare;
      recording.close();
    }
    assert.deepEqual([report.problems, report.whole, report.live], [[], true, true]);
    assert.ok(grown > 10, `${grown} times`);
  });

  it('what is told of a call before the call itself is read is no damage while the run goes on', () => {
    const { recording, file: live } = project.begin('live', [agentSpool()]);
    const stop = { native: true, description: 'Paused', thread: 1 };
    recording.write((writer) => writer.sessionEvent('stop', '1.9', stop, 1_700_000_030_000_000_000n));
    assert.deepEqual([checkRun(live).problems, checkRun(live).live], [[], true]);
    recording.finish(undefined);
    recording.close();
    const { problems: said, live: goesOn } = checkRun(live);
    assert.deepEqual(
      [said.map(({ what, examples }) => `${what}: ${examples.join()}`), goesOn],
      [
        ['There are holds of a call that is not there: 1.9', 'There are events of a call that is not there: 1.9'],
        undefined,
      ],
    );
  });

  it('finds rows that name others that are not there', () => {
    change("DELETE FROM functions WHERE name = 'refund'", 'UPDATE holds SET call = 12');
    changeEach((chunk, slot, call) => {
      if (chunk.parent[slot] === globalId(1, 1)) chunk.parent[slot] = globalId(1, 99);
      if (call === globalId(1, 5)) chunk.setPart(slot, ARGS, 999, Buffer.alloc(0));
    });
    const said = problems().join('\n');
    assert.match(said, /There are calls below a call that is not there \(2\): 1\.2,1\.5/);
    assert.match(said, /There are calls of a function that is not there \(1\): 1\.4/);
    assert.match(said, /There are calls whose value of the arguments is not there \(1\): 1\.5/);
    assert.match(said, /There are holds of a call that is not there \(1\): 0\.12/);
  });

  it('finds a run that counts its calls, or their times, wrongly', () => {
    const whole = readFileSync(file);
    for (const [set, field] of [
      ['calls = calls + 1', 'calls'],
      ['first = first - 1', 'first'],
      ['last = first', 'last'],
      ['ended = 7', 'ended'],
    ] as const) {
      change(`UPDATE runs SET ${set}`);
      assert.deepEqual(checkRun(file).problems, [
        { what: 'The run says of itself what is not so of its calls', count: 1, examples: [field] },
      ]);
      writeFileSync(file, whole);
    }
  });

  it('finds values that do not decode, are not what their name says, or lack a part', () => {
    changeEach((chunk, slot, call) => {
      if (call === globalId(1, 5)) chunk.setPart(slot, ARGS, 0, Buffer.from([0xff, 0]));
    });
    assert.match(problems().join('\n'), /^There are calls with a value that cannot be read \(1\): 1\.5$/);
    change(
      "UPDATE \"values\" SET bytes = cast(replace(cast(bytes AS TEXT), 'yyy', 'xyz') AS BLOB) WHERE length(bytes) > 900 AND instr(bytes, 'yyy')",
    );
    assert.match(
      problems().join('\n'),
      /There are values whose content is not what their name says \(\d\): of call 2\.1$/m,
    );
    change('DELETE FROM "values" WHERE length(bytes) > 900');
    assert.match(problems().join('\n'), /There are values with a part that is not there \([12]\): of call 2\.1$/m);
    // A value that no call has any more has its row alone.
    change('INSERT INTO "values" (id, cid, codec, bytes) VALUES (900, NULL, 0, x\'ff\')');
    assert.match(problems().join('\n'), /There are values that cannot be decoded \(1\): row 900$/m);
  });

  it('finds calls that its own tables do not know, and blocks that cannot be read', () => {
    change("INSERT OR REPLACE INTO longest_calls (chunk, rest, calls) SELECT id, 0, x'00' FROM chunks");
    assert.match(problems().join('\n'), /^There are calls that no search by time finds \(\d\): 1\.1,/);
    change('DELETE FROM longest_calls');
    assert.deepEqual(problems(), []);
    change('DELETE FROM function_chunks');
    assert.match(problems().join('\n'), /^There are calls that no search by time finds \(\d\): 1\.1,/);
    change("UPDATE chunks SET heads = x'00'");
    assert.match(problems().join('\n'), /There are blocks of calls that cannot be read \(\d\): \d/);
  });

  it('says what is damaged and what can still be read when pages are overwritten', () => {
    const bytes = readFileSync(file);
    const size = bytes.readUInt16BE(16);
    // Rubbish in each page behind the schema's, until SQLite sees it in the rows.
    let seen = 0;
    for (let page = 2; page * size < bytes.length; page++) {
      const broken = Buffer.from(bytes);
      broken.fill(0xa5, page * size, page * size + 64);
      writeFileSync(file, broken);
      const report = checkRun(file);
      if (report.whole) continue;
      seen++;
      assert.ok(report.problems.every(({ what, count }) => what !== '' && count > 0));
    }
    assert.ok(seen > 3, `${seen} pages`);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(bytes.length - 100, 0xa5)]));
    const lost = checkRun(file);
    assert.deepEqual([lost.whole, lost.readable], [false, {}]);
    writeFileSync(file, 'no database at all');
    assert.equal(checkRun(file).problems[0]!.what, 'The file cannot be opened: it is damaged');
  });

  it('refuses what is no run file, or a newer one', () => {
    change('PRAGMA user_version = 99');
    assert.throws(() => checkRun(file), /made by a newer Toolbreak/);
    change('PRAGMA application_id = 7');
    assert.throws(() => checkRun(file), /is not a Toolbreak run file/);
    const text = file.replace(/\.db$/, '.txt');
    writeFileSync(text, 'no database at all');
    assert.throws(() => checkRun(text), /\.txt is not a Toolbreak run file\.$/);
  });
});
