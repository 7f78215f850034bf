import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeFixtures } from '../support/native';
import { nativeScenes, type Native } from './native-support';

const THREADS = join(nativeFixtures, 'threads.cpp');

function lineOf(name: string): number {
  return (
    readFileSync(THREADS, 'utf8')
      .split('\n')
      .findIndex((text) => text.endsWith(`// BP: ${name}`)) + 1
  );
}

async function begin(
  { s, delegate, compiled }: Native,
  dots: string[],
  more: { args?: string[]; functions?: string[]; exceptions?: string[] } = {},
): Promise<void> {
  const program = compiled.program('threads.cpp', ['-pthread']);
  await s.client.launch({ program, args: more.args ?? [], cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
    const breakpoints = dots.map((name) => ({ line: lineOf(name) }));
    await s.client.request('setBreakpoints', { source: { path: THREADS }, breakpoints });
    const functions = (more.functions ?? []).map((name) => ({ name }));
    await s.client.request('setFunctionBreakpoints', { breakpoints: functions });
    await s.client.request('setExceptionBreakpoints', { filters: more.exceptions ?? [] });
  });
}

nativeScenes('Threads and C++', (native) => {
  it('all threads stand still together, each with its frames, and go on together', async () => {
    const n = native();
    const { s, stop } = n;
    await begin(n, ['all']);
    const at = await stop();
    assert.equal(at.body.allThreadsStopped, true);
    const { threads } = await s.client.request('threads', {});
    assert.equal(threads.length, 4);
    assert.equal(new Set(threads.map(({ name }) => name)).size, 4);
    for (const { id } of threads.filter((one) => one.id !== at.threadId)) {
      const names = (await s.client.frames(id)).map(({ name }) => name);
      assert.ok(
        names.some((name) => /\bworker\(/.test(name)),
        names.join(),
      );
    }
    const answer = await s.client.request('continue', { threadId: at.threadId });
    assert.equal(answer.allThreadsContinued, true);
    const text = await s.exit();
    assert.deepEqual(text.match(/worker \d+/g)?.sort(), ['worker 10', 'worker 20', 'worker 30']);
  });

  it('a dot in threads is hit by each of them; one is looked at while another is chosen', async () => {
    const n = native();
    const { s, stop, go } = n;
    await begin(n, ['worker']);
    const seen = new Set<string>();
    while (seen.size < 3) {
      let at = await stop();
      for (;;) {
        assert.equal(at.body.reason, 'breakpoint');
        seen.add((await s.values(at, 'Locals'))['mine']!);
        // Those that stopped together go on together.
        if (s.client.pending('stopped').length === 0) break;
        at = await stop();
      }
      await go(at);
    }
    await s.exit();
    assert.deepEqual([...seen].sort(), ['10', '20', '30']);
  });

  it('shows what is in objects and containers', async () => {
    const n = native();
    const { s, stop, go } = n;
    await begin(n, ['sum']);
    let at = await stop();
    assert.match(at.name, /^shop::Basket::sum\(\) const$|^shop::Basket::sum/);
    assert.equal(await s.evaluate(at, 'items_._M_impl._M_start[1].price'), '5');
    assert.equal(await s.evaluate(at, 'total'), '8');
    const self = await s.client.request('evaluate', { expression: '*this', frameId: at.top.id, context: 'watch' });
    const { variables } = await s.client.request('variables', { variablesReference: self.variablesReference });
    assert.deepEqual(
      variables.map(({ name }) => name),
      ['items_', 'by_name_'],
    );
    assert.match(variables[0]!.value, /^size=/);
    await go(at);
    at = await stop();
    await go(at);
    await s.exit();
  });

  it('functions are named with their namespace and class', async () => {
    const n = native();
    const { s, stop, go } = n;
    await begin(n, [], { functions: ['shop::Basket::sum'] });
    const at = await stop();
    assert.equal(at.body.reason, 'function breakpoint');
    assert.match(at.name, /Basket::sum/);
    await s.client.request('setFunctionBreakpoints', { breakpoints: [] });
    await go(at);
    await s.exit();
  });

  it('stops where an exception is thrown', async () => {
    const n = native();
    const { s, stop, go } = n;
    await begin(n, [], { args: ['throw'], exceptions: ['cpp_throw'] });
    const at = await stop();
    assert.equal(at.body.reason, 'exception');
    const main = at.frames.find(({ name }) => name.startsWith('main'))!;
    assert.equal(main.line, lineOf('throw'));
    await go(at);
    assert.match(await s.exit(), /caught no cake left\n$/);
  });

  it('stops where an exception is caught', async () => {
    const n = native();
    const { s, stop, go } = n;
    await begin(n, [], { args: ['throw'], exceptions: ['cpp_catch'] });
    const at = await stop();
    assert.equal(at.body.reason, 'exception');
    assert.match(at.name, /__cxa_begin_catch/);
    assert.match(at.frames[1]!.name, /^main/);
    await go(at);
    assert.match(await s.exit(), /caught no cake left\n$/);
  });

  it('a line with several calls offers each of them to step into', async () => {
    const n = native();
    const { s, stop } = n;
    await begin(n, ['calls']);
    const at = await stop();
    const { targets } = await s.client.request('stepInTargets', { frameId: at.top.id });
    for (const name of ['sum', 'scaled'])
      assert.ok(
        targets.some(({ label }) => label.includes(name)),
        JSON.stringify(targets),
      );
    // The compiler may call the second one first: the other is what shows that the choice was kept.
    const target = targets.find(({ label }) => label.includes('sum'))!;
    await s.client.request('stepIn', { threadId: at.threadId, targetId: target.id });
    const within = await stop();
    assert.match(within.name, /sum/);
    assert.match(within.frames[1]!.name, /^main/);
  });
});
