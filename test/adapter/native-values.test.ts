import assert from 'node:assert/strict';
import { join } from 'node:path';
import { nativeFixtures } from '../support/native';
import { refusal } from './e2e-support';
import { lineOf, nativeScenes, ORDER } from './native-support';

nativeScenes('Values of a native program', (native) => {
  it('shows structs, arrays, pointers, globals and registers of any frame, in any order', async () => {
    const { s, order, stop, go } = native();
    await order([], ['sum']);
    const at = await stop();
    const outer = await s.client.scope(at.frames[1]!.id, 'Locals');
    const inner = await s.client.scope(at.top.id, 'Locals');
    const again = await s.client.scope(at.frames[1]!.id, 'Locals');
    assert.deepEqual([...inner.keys()].sort(), ['i', 'order', 'sum']);
    assert.ok(outer.has('first') && again.has('first'));
    const below = async (ref: number) =>
      new Map(
        (await s.client.request('variables', { variablesReference: ref })).variables.map((one) => [one.name, one]),
      );
    const first = await below(outer.get('first')!.variablesReference);
    assert.equal(first.get('id')?.value, '1');
    assert.match(first.get('customer')!.value, /"Grace"/);
    const lines = await below(first.get('lines')!.variablesReference);
    assert.equal(lines.size, 3);
    const line = await below(lines.get('[1]')!.variablesReference);
    assert.deepEqual([line.get('quantity')?.value, line.get('price')?.value], ['1', '4']);
    const next = await below(first.get('next')!.variablesReference);
    assert.match(next.get('customer')!.value, /"Ada"/);
    assert.equal((await s.client.scope(at.top.id, 'Globals')).get('served')?.value, '0');
    const [group] = (await s.client.scope(at.top.id, 'Registers')).values();
    const registers = await below(group!.variablesReference);
    assert.ok([...registers.keys()].some((name) => /^(rip|pc)$/.test(name)));
    await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [] });
    await go(at);
    await s.exit();
  });

  it('evaluates, completes and changes values; a wrong expression is a sentence', async () => {
    const { s, order, stop, go } = native();
    await order([], ['sum']);
    const at = await stop();
    assert.equal(await s.evaluate(at, 'order->lines[0].quantity * 10'), '20');
    assert.equal(await s.evaluate(at, 'order->id', 'hover'), '1');
    assert.equal(await s.evaluate(at, 'served + 1', 'repl'), '1');
    assert.equal(await s.evaluate(at, '(int)order->next->id'), '2');
    assert.match(await s.evaluate(at, '`register read rip', 'repl'), /rip = 0x/);
    assert.match(await refusal(s.evaluate(at, 'nope + 1')), /undeclared identifier 'nope'/);
    assert.match(await refusal(s.evaluate(at, 'order->')), /./);
    const set = await s.client.request('setExpression', {
      frameId: at.top.id,
      expression: 'sum',
      value: '7.5',
    });
    assert.equal(set.value, '7.5');
    assert.equal(await s.evaluate(at, 'sum'), '7.5');
    assert.match(await refusal(s.set(at, 'Locals', 'i', 'hello there')), /./);
    assert.equal(await s.set(at, 'Locals', 'i', '2'), '2');
    const { targets } = await s.client.request('completions', { frameId: at.top.id, text: 'ord', column: 4 });
    assert.deepEqual(
      targets.filter(({ label }) => label === 'order').map(({ start, length }) => [start, length]),
      [[1, 3]],
    );
    const members = await s.client.request('completions', { frameId: at.top.id, text: 'order->cus', column: 11 });
    assert.ok(members.targets.some(({ label }) => label === 'customer'));
    await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints: [] });
    await go(at);
    // i jumped over two lines of three.
    assert.equal(await s.exit(), 'orders\n11.5 4 3\n');
  });

  it('reads and writes memory, and shows machine code', async () => {
    const { s, order, stop, go } = native();
    await order([], ['main']);
    const at = await stop();
    const first = await s.client.request('evaluate', { expression: '&first', frameId: at.top.id, context: 'watch' });
    const memoryReference = /0x[0-9a-f]+/.exec(first.result)![0];
    const { data, unreadableBytes } = (await s.client.request('readMemory', { memoryReference, count: 4 }))!;
    assert.equal(unreadableBytes ?? 0, 0);
    assert.equal(Buffer.from(data!, 'base64').readInt32LE(), 1);
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(99);
    const written = await s.client.request('writeMemory', { memoryReference, data: bytes.toString('base64') });
    assert.equal(written?.bytesWritten, 4);
    assert.equal(await s.evaluate(at, 'first.id'), '99');
    const nowhere = await s.client.request('readMemory', { memoryReference: '0x8', count: 16 }).catch((e: Error) => e);
    assert.ok(nowhere instanceof Error || (nowhere?.data === undefined && nowhere?.unreadableBytes === 16));
    const here = at.top.instructionPointerReference!;
    const code = (await s.client.request('disassemble', {
      memoryReference: here,
      instructionOffset: -4,
      instructionCount: 12,
    }))!;
    assert.equal(code.instructions.length, 12);
    const now = code.instructions.findIndex(({ address }) => BigInt(address) === BigInt(here));
    assert.equal(now, 4);
    assert.ok(code.instructions.slice(now).every(({ instruction }) => instruction !== ''));
    const { modules } = await s.client.request('modules', {});
    assert.ok(modules.some(({ name }) => name === 'order'));
    await go(at);
    await s.exit();
  });

  it('steps by instructions, and stops at an address', async () => {
    const { s, order, stop, step, go } = native();
    await order([], ['main']);
    let at = await stop();
    const before = BigInt(at.top.instructionPointerReference!);
    at = await step('stepIn', at, 'instruction');
    const after = BigInt(at.top.instructionPointerReference!);
    assert.ok(after > before && after - before < 16n);
    assert.equal(at.body.reason, 'step');
    const { instructions } = (await s.client.request('disassemble', {
      memoryReference: at.top.instructionPointerReference!,
      instructionCount: 60,
    }))!;
    const line = lineOf('order.c', 'print');
    const spot = instructions.find((one) => one.line === line) ?? instructions.at(20)!;
    const { breakpoints } = await s.client.request('setInstructionBreakpoints', {
      breakpoints: [{ instructionReference: spot.address }],
    });
    assert.equal(breakpoints[0]?.verified, true);
    await go(at);
    at = await stop();
    assert.equal(BigInt(at.top.instructionPointerReference!), BigInt(spot.address));
    assert.deepEqual([at.body.reason, at.body.hitBreakpointIds], ['instruction breakpoint', [breakpoints[0].id]]);
    await s.client.request('setInstructionBreakpoints', { breakpoints: [] });
    await go(at);
    await s.exit();
  });

  it('watches a variable, by its row and by its name', async () => {
    const { s, order, stop, go } = native();
    await order([], ['main']);
    let at = await stop();
    const { scopes } = await s.client.request('scopes', { frameId: at.top.id });
    const globals = scopes.find(({ name }) => name === 'Globals')!.variablesReference;
    const info = await s.client.request('dataBreakpointInfo', { variablesReference: globals, name: 'served' });
    assert.ok(info.dataId, info.description);
    const named = await s.client.request('dataBreakpointInfo', { frameId: at.top.id, name: 'served' });
    assert.ok(named.dataId, named.description);
    const { breakpoints } = await s.client.request('setDataBreakpoints', {
      breakpoints: [{ dataId: info.dataId, accessType: 'write' }],
    });
    assert.equal(breakpoints[0]?.verified, true, breakpoints[0]?.message);
    await go(at);
    at = await stop();
    assert.equal(at.body.reason, 'data breakpoint');
    assert.equal(at.name, 'total');
    assert.deepEqual(at.body.hitBreakpointIds, [breakpoints[0].id]);
    assert.equal(await s.evaluate(at, 'served'), '1');
    await s.client.request('setDataBreakpoints', { breakpoints: [] });
    await go(at);
    await s.exit();
  });

  it('references of C++ are what they refer to, shown and set', async () => {
    const { s, stop, go, delegate, compiled } = native();
    const program = compiled.program('references.cpp');
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
      const breakpoints = [{ line: lineOf('references.cpp', 'use') }];
      await s.client.request('setBreakpoints', {
        source: { path: join(nativeFixtures, 'references.cpp') },
        breakpoints,
      });
    });
    const at = await stop();
    const values = await s.values(at, 'Locals');
    assert.deepEqual([values['number'], values['word'], values['flag']], ['4', '"seven"', 'false']);
    assert.equal(await s.evaluate(at, 'number'), '4');
    const { scopes } = await s.client.request('scopes', { frameId: at.top.id });
    const { variablesReference } = scopes.find(({ name }) => name === 'Locals')!;
    const { variables } = await s.client.request('variables', { variablesReference });
    const set = { variablesReference, name: 'number', value: '12' };
    assert.equal((await s.client.request('setVariable', set)).value, '12');
    const refused = await refusal(s.client.request('setVariable', { ...set, value: 'many' }));
    assert.match(refused, /many/);
    assert.doesNotMatch(refused, /refused "setVariable"/);
    const box = variables.find(({ name }) => name === 'box')!.variablesReference;
    const inside = (await s.client.request('variables', { variablesReference: box })).variables;
    assert.deepEqual(
      inside.map(({ name, value }) => [name, value]),
      [
        ['inside', '12'],
        ['other', '2.5'],
      ],
    );
    await s.client.request('setVariable', { variablesReference: box, name: 'other', value: '0.5' });
    assert.equal(await s.evaluate(at, 'box.other'), '0.5');
    await go(at);
    // 12 and the five letters.
    await s.exit(0);
  });

  it('a deep stack costs little: frames come by pages', async () => {
    const { s, order, go } = native();
    await order(['', '5000'], ['bottom']);
    const body = await s.client.waitFor('stopped');
    const { threadId } = body;
    const page = await s.client.request('stackTrace', { threadId: threadId!, startFrame: 0, levels: 5 });
    assert.equal(page.stackFrames.length, 5);
    assert.ok(page.totalFrames! > 5);
    const far = await s.client.request('stackTrace', { threadId: threadId!, startFrame: 4990, levels: 100 });
    assert.ok(far.stackFrames.some(({ name }) => name === 'main'));
    const level = await s.client.request('evaluate', {
      expression: 'level',
      frameId: far.stackFrames[5]!.id,
      context: 'watch',
    });
    assert.equal(level.result, '4995');
    await go({ threadId } as never);
    await s.exit();
  });
});
