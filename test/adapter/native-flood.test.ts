import assert from 'node:assert/strict';
import { nativeFixtures } from '../support/native';
import { nativeScenes } from './native-support';

nativeScenes('A native program that prints much', (native) => {
  it('has all of its lines told, in their order, before its end, and not one by one', async () => {
    const { s, delegate, compiled } = native();
    const program = compiled.program('flood.c');
    await s.client.launch({ program, args: ['20000'], cwd: nativeFixtures, lldbDap: delegate.path });
    const lines = (await s.exit(0)).split('\n').slice(0, -1);
    assert.equal(lines.length, 20_000);
    lines.forEach((line, index) => assert.ok(line.startsWith(`line ${index} of `), line));
    assert.ok(s.client.pending('output').length < 10_000);
  });
});
