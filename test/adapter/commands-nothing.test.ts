import assert from 'node:assert/strict';
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
    assert.deepEqual(why('--name', 'lokup'), [`Without --name 5 calls match. Their names: ${names}.`]);
    assert.deepEqual(why('--name-is', 'lookup'), [`Without --name-is 5 calls match. Their names: ${names}.`]);
    assert.deepEqual(why('--name-regex', '^x'), [`Without --name-regex 5 calls match. Their names: ${names}.`]);
    assert.deepEqual(why('--kind', 'http'), ['Without --kind 5 calls match. Their kinds: tool, workflow, node.']);
    assert.deepEqual(why('--error', 'KeyError'), ['Without --error 5 calls match. Their errors: ApprovalNeeded.']);
    assert.deepEqual(why('--min-duration', '1h'), ['Without --min-duration 5 calls match.']);
    // Each of two parts leaves everything out: nobody can say which was meant otherwise.
    assert.deepEqual(why('--name', 'lokup', '--kind', 'http'), []);
    assert.deepEqual(why('--name', 'refund', '--kind', 'node'), [
      'Without --name 1 call matches. Their names: tools.',
      'Without --kind 1 call matches. Their kinds: tool.',
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

  it('says nothing more to a program, and of a page behind others', () => {
    const { stdout } = project.toolbreak('query', '--name', 'lokup', '--json');
    assert.deepEqual((JSON.parse(stdout) as { rows: unknown[] }).rows, []);
    assert.doesNotMatch(stdout, /Without/);
  });
});
