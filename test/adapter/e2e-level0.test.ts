import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolbreakCommand } from '../support/adapter';
import { DapClient } from '../support/dap-client';
import { assertGolden } from '../support/golden';
import { transcript } from '../support/transcript';
import { Place, python } from './target-support';
import { openWithCalls } from '../support/run-file';

const root = join(__dirname, '..', '..');

describe('Level 0, from the editor to the run file', function () {
  this.timeout(60_000);
  let place: Place;
  let client: DapClient;

  beforeEach(() => {
    place = new Place();
    const env = { ...process.env, XDG_STATE_HOME: join(place.folder, 'state'), XDG_RUNTIME_DIR: place.folder };
    client = DapClient.start(process.execPath, toolbreakCommand('dap'), {
      cwd: root,
      env,
    });
  });
  afterEach(async () => {
    await client.end();
    place.remove();
  });

  it('holds add, changes its result, and records the calls', async () => {
    const folder = join(root, 'fixtures', 'apps', 'level0');
    const program = join(folder, 'calculator.py');
    const line =
      1 +
      readFileSync(program, 'utf8')
        .split('\n')
        .findIndex((text) => text.includes('# BP: add'));
    await client.launch({ program, python, cwd: folder, record: { functions: ['@usercode'] } }, () =>
      client.request('setBreakpoints', { source: { path: program }, breakpoints: [{ line }] }),
    );

    await client.waitFor('breakpoint', ({ breakpoint }) => breakpoint.verified && breakpoint.line === line);
    const stopped = await client.waitFor('stopped');
    assert.equal(stopped.reason, 'breakpoint');
    assert.equal(stopped.allThreadsStopped, false);
    const threadId = stopped.threadId!;
    await client.request('threads', {});
    const frames = await client.frames(threadId);
    assert.equal(frames[0]!.name, 'add(a=2, b=3) · function, before');
    assert.equal(frames[0]!.line, line);
    const args = await client.scope(frames[0]!.id, 'Arguments');
    assert.equal(args.get('a')!.value, '2');
    const { scopes } = await client.request('scopes', { frameId: frames[0]!.id });
    const { variablesReference } = scopes.find(({ name }) => name === 'Arguments')!;
    const edited = await client.request('setVariable', { variablesReference, name: 'b', value: '40' });
    assert.equal(edited.value, '40');
    assert.equal((await client.frames(threadId))[0]!.name, 'add(a=2, b=40) · function, before');
    await client.request('continue', { threadId });
    await client.waitFor('exited', ({ exitCode }) => exitCode === 0);
    await client.waitFor('terminated');
    assert.equal(client.output['stdout'], '2 + 3 = 42\n42 * 4 = 168\n');

    assert.match(client.output['console'] ?? '', /^add: b 3 → 40 \(edited\)$/m);
    assert.equal(client.output['important'], undefined);

    const { runFile } = await client.waitFor('toolbreak/run');
    await client.request('disconnect', {});
    await client.closed;
    const replace: [string, string][] = [
      [folder, '<level0>'],
      [place.folder, '<temp>'],
      [python, '<python>'],
    ];
    // Left out is what comes beside the answers, in no fixed order with them; it is asserted above. So is the launch's own answer.
    const without = [
      'progressStart',
      'progressEnd',
      'output',
      'invalidated',
      'thread',
      'breakpoint',
      'process',
      'toolbreak/run',
    ];
    assertGolden('level0', transcript(client, { replace, without }).replace('<-- launch answer\n', ''));

    const db = openWithCalls(runFile);
    const names = db
      .prepare('SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id')
      .pluck()
      .all();
    db.close();
    assert.deepEqual(names, ['main', 'add', 'mul']);
  });
});
