import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Dict, Float, Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';
import { RecordedProject } from './recorded';

describe('commands: values as JSON', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => {
    project = new RecordedProject();
  });
  after(() => project.remove());

  it('JSON keeps the point of a float, and the sign of a zero', () => {
    const floats = dict({
      whole: new Float(5),
      zero: new Float(-0),
      some: [new Float(1e15), new Float(2 ** 60), 5, new Float(0.5)],
    });
    const spool = new SpoolFile('4000003-abc')
      .add(1, 1, 'tool', 'weigh', 'weigh', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(3, 1, 0, 1, 1, 2000, floats, null)
      .add(4, 1, 2005, 0, new Float(-7), null);
    const path = project.record('floats', [spool], [], join(project.root, 'floats'));
    for (const command of [
      ['query', path, '--values'],
      ['show', path, '1.1'],
    ]) {
      const { stdout } = project.toolbreak(...command, '--json');
      const written = stdout.replace(/\s+/g, '');
      assert.ok(
        written.includes('{"whole":5.0,"zero":-0.0,"some":[1000000000000000.0,1.152921504606847e+18,5,0.5]}'),
        stdout,
      );
      assert.ok(written.includes('"result":-7.0'), stdout);
    }
  });

  it('show --json has every key, every digit and the elements of arrays', () => {
    const keys = new Dict([
      ['1', 1],
      [1, 2],
      ["'1'", 3],
    ]);
    const array = (size: number): Value =>
      new Tagged('array', ['array.array', new Tuple([size]), 'd', [new Float(1.5), new Float(2)], size]);
    const spool = new SpoolFile('4000001-abc')
      .add(1, 1, 'tool', 'odd', 'odd', 'm', '/app/m.py', 1, 1)
      .add(2, 1, 'main', 0)
      .add(
        3,
        1,
        0,
        1,
        1,
        2000,
        dict({ huge: 10n ** 400n, large: 2n ** 53n, keys, all: array(2), head: array(9) }),
        null,
      )
      .add(4, 1, 3000, 0, -(10n ** 400n), null);
    const path = project.record('odd', [spool], [], join(project.root, 'odd'));
    const whole = JSON.parse(project.toolbreak('show', path, '1.1', '--json').stdout) as Record<string, unknown>;
    assert.deepEqual(whole['arguments'], {
      huge: String(10n ** 400n),
      large: '9007199254740992',
      keys: { "'1'": 1, '1': 2, "'1' (2)": 3 },
      all: [1.5, 2],
      head: { $mark: 'array', reason: 'Only the first 2 of 9 elements were recorded.', value: [1.5, 2] },
    });
    assert.equal(whole['result'], String(-(10n ** 400n)));
  });
});
