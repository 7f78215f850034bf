import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { Compiled, delegates } from '../support/native';

describe('native fixtures', () => {
  const compiled = new Compiled();
  after(() => compiled.remove());

  it('the loops print what their numbers say', () => {
    const basic = spawnSync(compiled.program('loop_basic.c'), { encoding: 'utf8' });
    assert.deepEqual([basic.stdout, basic.status], ['sum=10\n', 0]);
    const stdin = spawnSync(compiled.program('loop_stdin.c'), { encoding: 'utf8', input: '4\n' });
    assert.deepEqual([stdin.stdout, stdin.status], ['acc=24\n', 0]);
  });

  for (const { name, major, path } of delegates())
    it(`${name} starts`, () => {
      const { stdout, status } = spawnSync(path, [major < 20 ? '--help' : '--version'], { encoding: 'utf8' });
      assert.equal(status, 0);
      assert.match(stdout, major < 20 ? /lldb/i : new RegExp(`LLVM version ${major}\\.`));
    });
});
