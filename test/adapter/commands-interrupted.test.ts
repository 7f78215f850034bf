import assert from 'node:assert/strict';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

describe('commands: calls that wait for an answer', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => {
    project = new RecordedProject();
    const question = dict({ question: 'refund 700?', order: 7 });
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'node', 'approve', 'approve', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 1000, dict({}), null)
      .add(4, 1, 2000, 5, question, null)
      .add(3, 2, 0, 1, 1, 3000, dict({}), null)
      .add(4, 2, 4000, 5, dict({ text: 'long '.repeat(100) }), null)
      .add(3, 3, 0, 1, 1, 5000, dict({}), null)
      .add(4, 3, 6000, 0, 'signed', null);
    project.record('asks', [spool]);
  });
  after(() => project.remove());

  const out = (...args: string[]): string => {
    const { stdout, stderr } = project.toolbreak(...args);
    assert.equal(stderr, '');
    return stdout;
  };

  it('say what they wait for, in the tree and by themselves', () => {
    const tree = out('show', 'last');
    assert.match(tree, /node approve\(\) \[interrupted\]: waits for \{'question': 'refund 700\?', 'order': 7\}\n/);
    assert.match(tree, /node approve\(\) \[interrupted\]: waits for \{'text': '(long )+…\n/);
    const one = out('show', 'last', '1.1');
    assert.match(one, /^node approve, interrupted after 1 us\n/);
    assert.match(one, /\nWaits for\n {2}question = 'refund 700\?'\n {2}order = 7\n/);
    assert.doesNotMatch(one, /Error/);
  });

  it('are found by their status and by what they ask', () => {
    const found = (...asked: string[]): string[] =>
      (JSON.parse(out('query', 'last', '--json', ...asked)) as { rows: { call: { id: string } }[] }).rows.map(
        ({ call }) => call.id,
      );
    assert.deepEqual(found('--status', 'interrupted'), ['1.1', '1.2']);
    assert.deepEqual(found('--where', 'result.order=7'), ['1.1']);
    assert.deepEqual(found('--status', 'error,cancelled'), []);
    assert.match(out('check', 'last'), /whole/);
  });
});
