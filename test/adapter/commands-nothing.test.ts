import assert from 'node:assert/strict';
import { Tagged } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { AGENT_EVENTS, agentSpool, RecordedProject } from './recorded';

describe('commands: a query that nothing answers', function () {
  this.timeout(60_000);
  let project: RecordedProject;

  before(() => {
    project = new RecordedProject();
    project.record('first', [agentSpool()], AGENT_EVENTS);
  });
  after(() => project.remove());

  /** What is said behind "Nothing matches." */
  function why(...args: string[]): string[] {
    const { stdout, stderr, status } = project.toolbreak('query', ...args);
    assert.deepEqual([status, stderr], [0, '']);
    const [first, ...others] = stdout.trimEnd().split('\n');
    assert.equal(first, 'Nothing matches.');
    return others;
  }

  it('says which part of it leaves everything out, and what there is', () => {
    const names = 'lookup_order, support_agent, tools, refund';
    assert.deepEqual(why('--name', 'lokup'), [`Without --name 5 calls match. Names that there are: ${names}.`]);
    assert.deepEqual(why('--name-is', 'lookup'), [`Without --name-is 5 calls match. Names that there are: ${names}.`]);
    assert.deepEqual(why('--name-regex', '^x'), [
      `Without --name-regex 5 calls match. Names that there are: ${names}.`,
    ]);
    assert.deepEqual(why('--kind', 'http'), [
      'Without --kind 5 calls match. Kinds that there are: tool, workflow, node.',
    ]);
    assert.deepEqual(why('--error', 'KeyError'), ['Without --error 5 calls match. Their errors: ApprovalNeeded.']);
    assert.deepEqual(why('--process', 'worker'), [
      'Without --process 5 calls match. Processes that there are: app.py (4000001).',
    ]);
    assert.deepEqual(why('--min-duration', '1h'), ['Without --min-duration 5 calls match.']);
    // Each of two parts leaves everything out: nobody can say which was meant otherwise.
    assert.deepEqual(why('--name', 'lokup', '--kind', 'http'), []);
    assert.deepEqual(why('--name', 'refund', '--kind', 'node'), [
      `Without --name 1 call matches. Names that there are: refund, lookup_order, support_agent, tools.`,
      'Without --kind 1 call matches. Kinds that there are: tool, workflow, node.',
    ]);
  });

  it('says of a condition what stands there, or what the values have instead', () => {
    const left = (path: string): string => `Without the condition on ${path}`;
    assert.deepEqual(why('--name', 'lookup', '--where', 'argument.orderid=7'), [
      `${left('argument.orderid')} 2 calls match. There argument has order_id, region, key.`,
    ]);
    assert.deepEqual(why('--name', 'lookup', '--where', 'argument.order_id=9'), [
      `${left('argument.order_id')} 2 calls match. There argument.order_id is 7, 8.`,
    ]);
    assert.deepEqual(why('--name', 'refund', '--where', 'result.total=9'), [
      `${left('result.total')} 1 call matches. None of them has a result.`,
    ]);
  });

  it('knows what comes late in a long run, and says what it has not looked at', () => {
    const spool = new SpoolFile('4000001-abc').add(2, 1, 'main', 0);
    for (const [id, name] of [[1, 'step'], [2, 'lookup_order']] as const) spool.add(1, id, 'tool', name, name, 'm', '/app/m.py', 1, 1); // prettier-ignore
    for (let id = 1; id <= 251; id++)
      spool.add(3, id, 0, id === 251 ? 2 : 1, 1, id * 10, dict({ n: id }), null).add(4, id, id * 10 + 5, 0, null, null);
    const file = project.record('long', [spool]);
    assert.deepEqual(why(file, '--name-is', 'lookup'), [
      'Without --name-is 251 calls match. Names that there are: lookup_order, step.',
    ]);
    assert.deepEqual(why(file, '--where', 'argument.m=7'), [
      'Without the condition on argument.m 251 calls match. In the first 200 calls argument has n.',
    ]);
    assert.deepEqual(why(file, '--name', 'step', '--name-is', 'lookup'), [
      'Without --name-is 250 calls match. Names that there are: lookup_order, step.',
    ]);
  });

  it('says where a part of the value was recorded, and takes its end for none of the value', () => {
    const rows = new Tagged('cut', ['list', [dict({ id: 0 }), dict({ id: 1 })], 9, 'larger']);
    const spool = new SpoolFile('4000001-abc')
      .add(2, 1, 'main', 0)
      .add(1, 1, 'tool', 'search', 'search', 'm', '/app/m.py', 1, 1)
      .add(3, 1, 0, 1, 1, 10, dict({ rows }), null)
      .add(4, 1, 15, 0, null, null);
    const file = project.record('cut', [spool]);
    for (const index of [-1, 7])
      assert.deepEqual(why(file, '--where', `argument.rows[${index}].id equals 1`), [
        `Without the condition on argument.rows[${index}].id 1 call matches. There argument.rows was recorded in part.`,
      ]);
    assert.deepEqual(why(file, '--where', 'argument.rows[1].id equals 7'), [
      'Without the condition on argument.rows[1].id 1 call matches. There argument.rows[1].id is 1.',
    ]);
    // Beside another value that is there.
    spool.add(3, 2, 0, 1, 1, 20, dict({ rows: [dict({ id: 3 })] }), null).add(4, 2, 25, 0, null, null);
    const both = project.record('both', [spool]);
    assert.deepEqual(why(both, '--where', 'argument.rows[-1].id equals 1'), [
      'Without the condition on argument.rows[-1].id 2 calls match. There argument.rows[-1].id is 3. In another one argument.rows was recorded in part.',
    ]);
  });

  it('says of what was printed that it belongs to no call', () => {
    for (const [flag, value] of [
      ['--name', 'lookup'],
      ['--kind', 'tool'],
      ['--task', 'x'],
    ] as const)
      assert.deepEqual(why('first', '--type', 'output', flag, value), [
        `Without ${flag} 1 row matches. What was printed belongs to no call: --text, --process, --from and --to find it.`,
      ]);
  });

  it('says what a line is good for', () => {
    assert.deepEqual(why('first', '--type', 'output', '--text', 'zzz'), ['Without --text 1 row matches.']);
    assert.deepEqual(why('first', '--text', 'Order(id=7)'), [
      'Without --text 5 calls match. A text is looked for in one text of a value at a time; a whole line is found by --where "result equals ...".',
    ]);
    const [line] = why('first', '--name', 'lookup', '--where', 'result equals Order(id=7, …)');
    assert.match(line!, /What a line leaves out, or only counts, is no part of a value\.$/);
    assert.match(why('first', '--where', 'error equals 1')[0]!, / 5 calls match\./);
    const odd = new SpoolFile('4000001-abc')
      .add(2, 1, 'main', 0)
      .add(1, 1, 'tool', 'search', 'search', 'm', '/app/m.py', 1, 1)
      .add(3, 1, 0, 1, 1, 10, dict({ colours: dict({ 'Colour.RED': 1, plain: 2 }) }), null)
      .add(4, 1, 15, 0, null, null);
    const file = project.record('odd', [odd]);
    assert.deepEqual(why(file, '--where', 'argument.colours.x equals 1'), [
      'Without the condition on argument.colours.x 1 call matches. There argument.colours has ["Colour.RED"], plain.',
    ]);
    assert.deepEqual(why(file, '--where', 'error equals 1'), [
      'Without the condition on error 1 call matches. None of them has an error.',
    ]);
  });

  it('says nothing more to a program', () => {
    const { stdout } = project.toolbreak('query', '--name', 'lokup', '--json');
    assert.deepEqual((JSON.parse(stdout) as { rows: unknown[] }).rows, []);
    assert.doesNotMatch(stdout, /Without/);
  });

  it('takes "failed" for an error, as it is said elsewhere', () => {
    const [failed, error] = ['failed', 'error'].map(
      (state) => project.toolbreak('query', '1', '--status', state).stdout,
    );
    assert.equal(failed, error);
    assert.match(failed!, /✗ /);
  });

  it('names processes as the tree does', () => {
    const main = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'a', 'a', 'm', '/app/m.py', 1, 2)
      .add(2, 1, 'app.py', 0);
    const children = ['SpawnProcess-2', 'Process 4000003'].map((name, index) =>
      new SpoolFile(`${4000002 + index}-abc`).add(1, 1, 'tool', 'b', 'b', 'm', '/app/m.py', 1, 2).add(2, 1, name, 0),
    );
    for (const spool of [main, ...children])
      spool.add(3, 1, 0, 1, 1, 2000, dict({}), null).add(4, 1, 2500, 0, null, null);
    const path = project.record('children', [main, ...children]);
    const said = project.toolbreak('query', path, '--process', 'nosuch').stdout;
    assert.match(said, / SpawnProcess-2 \(4000002\)/);
    assert.match(said, / Process 4000003[,.]/);
  });
});
