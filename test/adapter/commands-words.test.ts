import assert from 'node:assert/strict';
import { join } from 'node:path';
import { agentSpool, RecordedProject } from './recorded';
import { SpoolFile, dict } from '../support/spool';

describe('commands: names and depths that others cannot take', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => {
    project = new RecordedProject();
    project.record('first', [agentSpool()]);
  });
  after(() => project.remove());

  it('an empty name of a file is said, and is not the folder that the terminal stands in', () => {
    for (const [args, said] of [
      [['import', ''], 'The name of what is to be imported is empty. Name a file or a folder.'],
      [
        ['export', 'first', '-o', ''],
        'The name of the file that is to be written is empty. Name one, or "-" for stdout.',
      ],
    ] as const) {
      const { status, stdout, stderr } = project.toolbreak(...args);
      assert.deepEqual([status, stdout, stderr], [2, '', `toolbreak: ${said}\n`]);
    }
  });

  it('a command that is proposed can be typed as it stands', () => {
    const out = join(project.project, 'given away.tbrun');
    assert.equal(project.toolbreak('export', 'first', '-o', out).status, 0);
    assert.match(
      project.toolbreak('show', out).stderr,
      /Take it in first: toolbreak import '.*\/given away\.tbrun'\n$/,
    );
    const kept = project.record('kept one', [agentSpool()]);
    assert.equal(project.toolbreak('keep', kept).status, 0);
    assert.match(project.toolbreak('delete', kept).stderr, /Say "toolbreak keep '.*\/kept one\.db' --not" first\./);
  });

  it('a deep tree in JSON is nested no deeper than others read it, and has every call', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'function', 'deep', 'deep', 'm', '/app/m.py', 1, 1);
    spool.add(2, 1, 'main', 0);
    for (let id = 1; id <= 600; id++) spool.add(3, id, id - 1, 1, 1, 2000 + id, dict({}), null);
    // Beside the others, below the one at level 150.
    spool.add(3, 601, 150, 1, 1, 2700, dict({}), null);
    for (let id = 601; id > 0; id--) spool.add(4, id, 4000 - id, 0, null, null);
    const file = project.record('deep', [spool]);
    const { stdout } = project.toolbreak('show', file, '--limit', '1000', '--json');
    interface Node {
      call: { call: { id: string } };
      below: Node[];
      deeper?: { levels: number; call: Node['call'] }[];
    }
    const { tree } = JSON.parse(stdout) as { tree: Node[] };
    let [node] = tree as [Node];
    let levels = 1;
    for (; node.below.length > 0; levels++) [node] = node.below as [Node];
    assert.deepEqual([levels, node.call.call.id, node.deeper!.length], [100, '1.100', 501]);
    const level = new Map(node.deeper!.map((each) => [each.call.call.id, each.levels]));
    assert.deepEqual([level.get('1.101'), level.get('1.600'), level.get('1.601')], [1, 500, 51]);
    const depth = stdout.split('').reduce(
      ({ now, most }, character) => {
        const next = now + ('{['.includes(character) ? 1 : ']}'.includes(character) ? -1 : 0);
        return { now: next, most: Math.max(most, next) };
      },
      { now: 0, most: 0 },
    );
    assert.ok(depth.most < 256, String(depth.most));
  });
});
