import assert from 'node:assert/strict';
import { join } from 'node:path';
import { apps, calledNames, marker, refusal, rows, scenes } from './e2e-support';

const file = (...parts: string[]): string => join(apps, ...parts);

scenes('Levels 0 and 1: plain functions', (scene) => {
  const level0 = file('level0', 'calculator.py');
  const level1 = file('level1', 'calculator.py');

  it('changes the result after the call', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: [{ at: 'mul', mode: 'after' }] } });
    const stop = await s.stop();
    assert.equal(stop.name, 'mul(a=5, b=4) · function, after');
    assert.equal(stop.top.line, marker(level0, 'mul'));
    assert.equal(await s.set(stop, 'Result', 'result', '7 * 6'), '42');
    await s.go(stop);
    assert.equal(await s.exit(), '2 + 3 = 5\n5 * 4 = 42\n');
  });

  it('steps over, into and out of calls', async () => {
    const s = scene();
    await s.launch(
      { program: level1, record: { functions: ['@usercode'] } },
      { dots: { [level1]: [{ at: 'apply', hitCondition: '1' }] } },
    );
    const first = await s.stop();
    assert.match(first.name, /^Calculator\.apply\(.*operation='add', value=5\) · function, before$/);
    const body = await s.step('stepIn', first);
    assert.deepEqual([body.name, body.frames[0]!.line], ['Calculator.apply', marker(level1, 'apply') + 1]);
    const line = await s.step('next', body);
    assert.deepEqual([line.name, line.frames[0]!.line], ['Calculator.apply', marker(level1, 'apply') + 2]);
    const inside = await s.step('stepIn', line);
    assert.match(inside.name, /^add\(.*value=5\) · function, before$/);
    assert.deepEqual(
      inside.frames
        .filter((frame) => frame.presentationHint !== 'subtle')
        .map(({ name }) => name.replace(/[( ·].*/, '')),
      ['add', 'Calculator.apply', 'main', '<module>'],
    );
    const out = await s.step('stepOut', inside);
    assert.match(out.name, /^Calculator\.apply\(.*\) · function, after$/);
    const next = await s.step('next', out);
    assert.match(next.name, /^Calculator\.apply\(.*operation='mul', value=4\) · function, before$/);
    const over = await s.step('next', next);
    assert.match(over.name, /^Calculator\.apply\(.*operation='add', value=1\) · function, before$/);
    await s.go(over);
    assert.match(await s.exit(), /^total: 21$/m);
  });

  it('stops at an error, whose exception can be looked at', async () => {
    const s = scene();
    await s.launch({ program: level1 }, { dots: { [level1]: [{ at: 'apply', mode: 'error' }] } });
    const stop = await s.stop();
    assert.equal(stop.body.reason, 'breakpoint');
    assert.match(stop.name, / · function, error$/);
    const info = await s.client.request('exceptionInfo', { threadId: stop.threadId });
    assert.equal(info.exceptionId, 'ValueError');
    assert.equal(info.description, 'unknown operation div');
    assert.match(info.details?.stackTrace ?? '', /calculator\.py/);
    assert.doesNotMatch(info.details?.stackTrace ?? '', /toolbreak\//);
    await s.go(stop);
    assert.match(await s.exit(), /^refused: unknown operation div$/m);
  });

  it('runs a call again with other arguments, and skips one', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: [{ at: 'add', mode: 'before and after' }, 'mul'] } });
    const before = await s.stop();
    assert.equal(before.name, 'add(a=2, b=3) · function, before');
    await s.go(before);
    const after = await s.stop();
    assert.equal(after.name, 'add(a=2, b=3) · function, after');
    await s.set(after, 'Arguments', 'a', '10');
    await s.client.request('toolbreak/again', { threadId: after.threadId });
    let again = await s.stop();
    if (again.name.endsWith('before')) {
      await s.go(again);
      again = await s.stop();
    }
    assert.equal(again.name, 'add(a=10, b=3) · function, after');
    await s.go(again);
    const mul = await s.stop();
    assert.equal(mul.name, 'mul(a=13, b=4) · function, before');
    await s.client.request('toolbreak/skip', { threadId: mul.threadId, result: '"skipped"' });
    const skipped = await s.stop();
    assert.equal(skipped.body.reason, 'goto');
    assert.deepEqual(await s.values(skipped, 'Result'), { result: "'skipped'" });
    await s.go(skipped);
    assert.equal(await s.exit(), '2 + 3 = 13\n13 * 4 = skipped\n');
    const statuses = rows<{ name: string; status: number }>(
      await s.recording(),
      'SELECT f.name, c.status FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id',
    );
    assert.deepEqual(
      statuses.filter(({ name }) => name === 'mul').map(({ status }) => status),
      [3],
    );
  });

  it('restarts a frame: the call stops again before it runs, with its changed arguments', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: [{ at: 'add', mode: 'after' }] } });
    const after = await s.stop();
    assert.equal(after.top.canRestart, true);
    await s.set(after, 'Arguments', 'b', '8');
    await s.client.request('restartFrame', { frameId: after.top.id });
    const before = await s.stop();
    assert.equal(before.body.reason, 'restart');
    assert.equal(before.name, 'add(a=2, b=8) · function, before');
    await s.go(before);
    const again = await s.stop();
    assert.equal(again.name, 'add(a=2, b=8) · function, after');
    await s.go(again);
    assert.match(await s.exit(), /^2 \+ 3 = 10$/m);
  });

  it('cancels a call with what no "except Exception" catches', async () => {
    const s = scene();
    const program = s.app(
      'cancel.py',
      `
def tool():  # BP: tool
    return 1

def main():
    try:
        tool()
    except Exception as error:
        print("swallowed", error)
    print("went on")

main()
`,
    );
    await s.launch({ program }, { dots: { [program]: ['tool'] } });
    const stop = await s.stop();
    await s.client.request('toolbreak/cancel', { threadId: stop.threadId });
    const { exitCode } = await s.client.waitFor('exited');
    assert.notEqual(exitCode, 0);
    assert.equal(s.client.output['stdout'] ?? '', '');
  });

  it('takes conditions, hit counts, logpoints and function names', async () => {
    const s = scene();
    await s.launch(
      { program: level1 },
      {
        dots: {
          [level1]: [
            { at: 'apply', condition: 'operation == "add"', hitCondition: '2' },
            { at: 'mul', logMessage: 'times {value} of {args["history"].total}' },
          ],
        },
        functions: ['add@after'],
      },
    );
    const one = await s.stop();
    assert.match(one.name, /^add\(.*value=5\) · function, after$/);
    await s.go(one);
    const two = await s.stop();
    assert.match(two.name, /operation='add', value=1\) · function, before$/);
    await s.go(two);
    const three = await s.stop();
    assert.match(three.name, /^add\(.*value=1\) · function, after$/);
    await s.go(three);
    await s.exit();
    assert.match(JSON.stringify(s.client.output), /times 4 of 5/);
  });

  it('reports a condition that raises once, and one that does not compile at once; the run goes on', async () => {
    const s = scene();
    await s.launch(
      { program: level1 },
      {
        dots: {
          [level1]: [
            { at: 'apply', condition: 'nowhere > 1' },
            { at: 'mul', condition: 'value >' },
          ],
        },
      },
    );
    await s.exit();
    const said = [
      ...s.client.messages.flatMap(
        ({ message }) => (JSON.stringify(message).match(/"message":"[^"]*"/g) ?? []) as string[],
      ),
      s.client.output['console'] ?? '',
      s.client.output['important'] ?? '',
      s.client.output['stderr'] ?? '',
    ].join('\n');
    assert.match(said, /nowhere/);
    assert.match(said, /The condition does not compile: invalid syntax\./);
    const told = [s.client.output['console'], s.client.output['important'], s.client.output['stderr']].join('');
    assert.equal(told.match(/name 'nowhere' is not defined/g)?.length, 1, told);
  });

  it('refuses an edit that does not parse or raises, and keeps the hold', async () => {
    const s = scene();
    await s.launch({ program: level0 }, { dots: { [level0]: ['add'] } });
    const stop = await s.stop();
    assert.match(await refusal(s.set(stop, 'Arguments', 'a', '1 +')), /^a was not changed: SyntaxError: .*\.$/);
    assert.match(await refusal(s.set(stop, 'Arguments', 'a', 'nowhere')), /^a was not changed: NameError: .*\.$/);
    await assert.rejects(s.evaluate(stop, 'nowhere'), { message: "NameError: name 'nowhere' is not defined" });
    assert.equal(await s.evaluate(stop, 'a + b'), '5');
    await s.go(stop);
    assert.match(await s.exit(), /^2 \+ 3 = 5$/m);
  });
});

scenes('Level 2: large values, and values that cannot be copied', (scene) => {
  const program = file('level2', 'files.py');

  it('holds generators, locks and files, and leaves the outcome as it is', async () => {
    const s = scene();
    await s.launch(
      { program, record: { functions: ['@usercode'] } },
      {
        dots: {
          [program]: ['transform', { at: 'write', mode: 'before and after' }, { at: 'checksum', mode: 'after' }],
        },
      },
    );
    const transform = await s.stop();
    const args = await s.values(transform, 'Arguments');
    assert.match(args['values'] ?? '', /generator/);
    assert.match(args['lock'] ?? '', /lock/);
    assert.equal(args['factor'], '2');
    await s.set(transform, 'Arguments', 'factor', '3');
    await s.go(transform);
    for (const boundary of ['before', 'after']) {
      const write = await s.stop();
      assert.match(write.name, new RegExp(`^write\\(.* · function, ${boundary}$`));
      await s.go(write);
    }
    const checksum = await s.stop();
    assert.match(await s.evaluate(checksum, 'len(payload)'), /^2097152$/);
    await s.go(checksum);
    const text = await s.exit();
    assert.match(text, /^sum: 1498500$/m);
    assert.ok(calledNames(await s.recording()).includes('numbers'));
  });
});

scenes('Level 3: a dispatcher with imported tools', (scene) => {
  const program = file('level3', 'dispatcher.py');
  const tools = file('level3', 'tools.py');
  const notes = file('level3', 'notes.py');

  it('stops functions that the dict and a closure held from the start, on their def line', async () => {
    const s = scene();
    await s.launch(
      { program },
      { dots: { [tools]: ['search', 'divide'], [notes]: ['prefixer', 'remember decorator'] } },
    );
    const search = await s.stop();
    assert.equal(search.name, "search(query='lamp', limit=3) · function, before");
    assert.equal(search.top.line, marker(tools, 'search'));
    assert.equal(search.top.source?.path, tools);
    await s.set(search, 'Arguments', 'limit', '1');
    await s.go(search);
    const remember = await s.stop();
    assert.match(remember.name, /^remember\(note='lamps are in stock'\) · function, before$/);
    assert.equal(remember.top.line, marker(notes, 'remember'));
    await s.go(remember);
    const divide = await s.stop();
    await s.set(divide, 'Arguments', 'b', '4');
    await s.go(divide);
    const prefixer = await s.stop();
    assert.match(prefixer.name, /prefixer\(text='done'\) · function, before$/);
    await s.go(prefixer);
    const text = await s.exit();
    assert.match(text, /^search: \['lamp 1'\]$/m);
    assert.match(text, /^divide: 0\.25$/m);
    assert.match(text, /^remembered: 1$/m);
  });

  it('leads from functions and classes to their definitions', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [tools]: ['search'] } });
    const search = await s.stop();
    const dispatch = search.frames.find((frame) => frame.name.startsWith('dispatch'))!;
    const table = await s.client.request('evaluate', { expression: 'TOOLS', frameId: dispatch.id, context: 'watch' });
    const { variables } = await s.client.request('variables', { variablesReference: table.variablesReference });
    const places = await Promise.all(
      variables.map(async ({ name, valueLocationReference }) => {
        const place = await s.client.request('locations', { locationReference: valueLocationReference! });
        return [name, place!.source.path, place!.line];
      }),
    );
    assert.deepEqual(places, [
      ['search', tools, marker(tools, 'search')],
      ['word_count', tools, marker(tools, 'word_count')],
      ['divide', tools, marker(tools, 'divide')],
      ['remember', notes, marker(notes, 'remember')],
      ['quote', notes, marker(notes, 'prefixer')],
    ]);
    const plain = await s.client.request('evaluate', { expression: 'len', frameId: dispatch.id, context: 'watch' });
    assert.equal(plain.valueLocationReference, undefined, 'what no file defines leads nowhere');
    const unknown = await refusal(s.client.request('locations', { locationReference: 4_711 }));
    assert.match(unknown, /This value is gone/);
    const noFunction = await refusal(s.client.request('locations', { locationReference: table.variablesReference }));
    assert.match(noFunction, /Only functions, methods and classes/);
    await s.go(search);
    const late = await refusal(
      s.client.request('locations', { locationReference: variables[0]!.valueLocationReference! }),
    );
    assert.match(late, /This value is gone: its task went on/);
    await s.exit();
  });

  it('says why a breakpoint cannot stop anything', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [tools]: ['search'] } });
    const stop = await s.stop();
    const body = marker(tools, 'search') + 1;
    const elsewhere = s.app('never.py', 'def never():\n    pass\n');
    const [search, inside, nothing] = await s.setDots(tools, ['search', { at: body }, { at: 1 }]);
    assert.equal(search!.verified, true);
    assert.equal(inside!.verified, true);
    assert.equal(inside!.line, body);
    assert.equal(nothing!.verified, false);
    assert.equal(nothing!.message, 'There is no code on line 1; set the breakpoint on a line with code, or on a def.');
    const [never] = await s.setDots(elsewhere, [{ at: 1 }]);
    assert.equal(never!.verified, false);
    assert.equal(never!.message, 'Waiting for never.py to be imported.');
    const [missing] = (await s.client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'tool:nowhere' }] }))
      .breakpoints;
    assert.equal(missing!.verified, false);
    assert.match(missing!.message ?? '', /^No tool matches/);
    await s.go(stop);
    const line = await s.stop();
    assert.equal(line.top.line, body);
    await s.go(line);
    await s.exit();
  });
});

scenes('Level 4: coroutines at the same time', (scene) => {
  const program = file('level4', 'dispatcher.py');

  it('holds one task while its siblings finish', async () => {
    const s = scene();
    await s.launch(
      { program },
      {
        dots: {
          [program]: [
            { at: 'fetch', mode: 'after', logMessage: 'fetched {result}' },
            { at: 'summarize', mode: 'after', logMessage: 'summary {result}' },
            'fail',
          ],
        },
      },
    );
    const stop = await s.stop();
    assert.match(stop.name, /^fail\(reason='no route'\) · function, before$/);
    await s.client.waitForOutput('console', 'fetched <page of example.test/one>');
    await s.client.waitForOutput('console', 'summary TWO');
    assert.equal(s.client.output['stdout'] ?? '', '');
    await s.set(stop, 'Arguments', 'reason', '"another reason"');
    await s.go(stop);
    const text = await s.exit();
    assert.match(text, /^RuntimeError another reason$/m);
    assert.match(text, /^counted \[0, 1, 2\]$/m);
  });

  it('holds several tasks, each released on its own', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [program]: ['fetch', 'fail'] } });
    const one = await s.stop();
    const two = await s.stop();
    assert.notEqual(one.threadId, two.threadId);
    assert.equal(one.body.preserveFocusHint, undefined);
    assert.equal(two.body.preserveFocusHint, true);
    const fetch = one.name.startsWith('fetch') ? one : two;
    const fail = fetch === one ? two : one;
    await s.set(fail, 'Arguments', 'reason', '"late"');
    await s.go(fail);
    assert.equal(await s.evaluate(fetch, 'url'), "'example.test/one'");
    await s.go(fetch);
    assert.match(await s.exit(), /^RuntimeError late$/m);
  });

  it('skips and cancels a coroutine', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [program]: ['fetch', 'fail'] } });
    const stops = [await s.stop(), await s.stop()];
    const fail = stops.find(({ name }) => name.startsWith('fail'))!;
    const fetch = stops.find(({ name }) => name.startsWith('fetch'))!;
    await s.client.request('toolbreak/skip', { threadId: fail.threadId, result: '"no failure"' });
    const skipped = await s.stop(fail.threadId);
    assert.equal(skipped.body.reason, 'goto');
    await s.go(skipped);
    await s.evaluate(fetch, 'started.set()', 'repl');
    await s.client.request('toolbreak/cancel', { threadId: fetch.threadId });
    const { exitCode } = await s.client.waitFor('exited');
    assert.equal(exitCode, 0);
    const text = s.client.output['stdout'] ?? '';
    assert.match(text, /^CancelledError/m);
    assert.match(text, /^str no failure$/m);
  });

  it('stops an asynchronous generator when it begins', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [program]: ['count'] } });
    const stop = await s.stop();
    assert.match(stop.name, /^count\(limit=3\) · function, before$/);
    await s.set(stop, 'Arguments', 'limit', '5');
    await s.go(stop);
    assert.match(await s.exit(), /^counted \[0, 1, 2, 3, 4\]$/m);
  });
});

scenes('Level 5 and errors', (scene) => {
  const program = file('level5', 'agent.py');

  it('holds the tool that fails, and the agent recovers', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [program]: [{ at: 'reserve', mode: 'error' }] } });
    const stop = await s.stop();
    assert.match(stop.name, /^reserve\(item='desk lamp', amount=12\).* · function, error$/);
    assert.equal(await s.evaluate(stop, 'amount'), '12');
    await s.go(stop);
    assert.match(await s.exit(), /^Done: 10 x desk lamp reserved$/m);
  });

  it('gives a failing call a result, and the agent never hears of the error', async () => {
    const s = scene();
    await s.launch({ program }, { dots: { [program]: [{ at: 'reserve', mode: 'error' }] } });
    const stop = await s.stop();
    await s.client.request('toolbreak/skip', { threadId: stop.threadId, result: '"12 x desk lamp found"' });
    const skipped = await s.stop();
    await s.go(skipped);
    assert.match(await s.exit(), /^Done: 12 x desk lamp found$/m);
  });

  it('stops at an uncaught exception before the process dies, its state readable', async () => {
    const s = scene();
    const uncaught = file('uncaught', 'uncaught.py');
    await s.launch({ program: uncaught }, { exceptions: ['uncaught'] });
    const stop = await s.stop();
    assert.equal(stop.body.reason, 'exception');
    const info = await s.client.request('exceptionInfo', { threadId: stop.threadId });
    assert.equal(info.exceptionId, 'ValueError');
    assert.equal(info.breakMode, 'unhandled');
    assert.equal(await s.evaluate(stop, 'state["charged"]'), '[40, 60]');
    await s.go(stop);
    await s.exit(1);
    assert.match(s.client.output['stderr'] ?? '', /ValueError: amount 250 is over the limit of 100/);
    assert.doesNotMatch(s.client.output['stderr'] ?? '', /toolbreak/);
  });

  it('stops at failing tools by the exception filter, with a condition', async () => {
    const s = scene();
    const tools = s.app(
      'tools.py',
      `
import toolbreak

@toolbreak.tool
def charge(amount):
    if amount > 1:
        raise ValueError(f"{amount} is too much")
    return amount

for amount in (1, 2, 3):
    try:
        charge(amount)
    except ValueError as error:
        print(error)
`,
    );
    await s.launch({ program: tools }, { exceptions: [{ filterId: 'tool', condition: 'args["amount"] == 3' }] });
    const stop = await s.stop();
    assert.equal(stop.body.reason, 'exception');
    assert.match(stop.name, /^charge\(amount=3\).* · tool, error$/);
    await s.go(stop);
    assert.equal(await s.exit(), '2 is too much\n3 is too much\n');
  });
});
