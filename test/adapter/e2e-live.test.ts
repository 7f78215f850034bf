import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apps, marker, scenes, type Scene } from './e2e-support';

const program = join(apps, 'live', 'live.py');
const late = join(apps, 'live', 'late.py');

scenes('Breakpoints while the app runs', (scene) => {
  /** Starts the app that goes round until `end` is called. */
  async function live(s: Scene, file = program): Promise<{ end(): void; importLate(): void }> {
    const stop = join(s.place.folder, 'stop');
    await s.launch({ program: file, args: [stop] });
    await s.client.waitFor('process');
    return { end: () => writeFileSync(stop, ''), importLate: () => writeFileSync(join(s.place.folder, 'late'), '') };
  }

  it('stops where a dot is set, moved, disabled and enabled', async () => {
    const s = scene();
    const app = await live(s);

    const [set] = await s.setDots(program, ['tick']);
    assert.equal(set!.verified, true);
    const tick = await s.stop();
    assert.match(tick.name, /^tick\(turn=\d+\) · function, before$/);
    assert.equal(tick.top.line, marker(program, 'tick'));

    const [moved] = await s.setDots(program, ['tock']);
    assert.equal(moved!.verified, true);
    await s.go(tick);
    const tock = await s.stop();
    assert.match(tock.name, /^tock\(/);

    // Disabled: the editor sends the list without it. The logpoint says that the app goes round.
    await s.setDots(program, [{ at: 'tick', logMessage: 'round {turn}' }]);
    await s.go(tock);
    await s.client.waitForOutput('console', 'round ');
    const before = s.client.output['console']!.length;
    await s.client.waitFor('output', () => s.client.output['console']!.slice(before).split('round ').length > 3);
    assert.deepEqual(s.client.pending('stopped'), []);

    const enabled = await s.setDots(program, ['tock']);
    assert.equal(enabled[0]!.verified, true);
    const again = await s.stop();
    assert.match(again.name, /^tock\(/);

    await s.setDots(program, [{ at: 'tock', condition: 'turn > 10_000_000' }]);
    app.end();
    await s.go(again);
    assert.equal(await s.exit(), 'ended after some turns\n');
  });

  it('binds function breakpoints and counts hits from the moment they are set', async () => {
    const s = scene();
    const app = await live(s);
    await s.client.request('setFunctionBreakpoints', { breakpoints: [{ name: 'tock@after', hitCondition: '3' }] });
    const stop = await s.stop();
    assert.match(stop.name, /^tock\(turn=\d+\) · function, after$/);
    app.end();
    await s.go(stop);
    await s.exit();
  });

  it('waits for a module that is not imported yet, then verifies and stops', async () => {
    const s = scene();
    const app = await live(s);
    const [waiting] = await s.setDots(late, ['chime']);
    assert.equal(waiting!.verified, false);
    assert.equal(waiting!.message, 'Waiting for late.py to be imported.');
    app.importLate();
    const { breakpoint } = await s.client.waitFor(
      'breakpoint',
      (one) => one.breakpoint.id === waiting!.id && one.breakpoint.verified,
    );
    assert.equal(breakpoint.message, undefined);
    assert.equal(breakpoint.line, marker(late, 'chime'));
    const stop = await s.stop();
    assert.match(stop.name, /^chime\(/);
    assert.deepEqual(stop.body.hitBreakpointIds, [waiting!.id]);
    await s.setDots(late, []);
    app.end();
    await s.go(stop);
    await s.exit();
  });

  it('stops in a file that the editor opened through a link', async () => {
    const s = scene();
    const real = join(s.place.folder, 'real');
    mkdirSync(real);
    copyFileSync(program, join(real, 'live.py'));
    copyFileSync(late, join(real, 'late.py'));
    const link = join(s.place.folder, 'link');
    symlinkSync(real, link, 'dir');
    const app = await live(s, join(real, 'live.py'));
    app.importLate();
    const [set] = await s.setDots(join(link, 'live.py'), ['tick']);
    assert.equal(set!.verified, true);
    const tick = await s.stop();
    await s.setDots(join(link, 'live.py'), []);
    await s.setDots(join(link, 'late.py'), ['chime']);
    await s.go(tick);
    const chime = await s.stop();
    assert.equal(chime.top.line, marker(late, 'chime'));
    await s.setDots(join(link, 'late.py'), []);
    app.end();
    await s.go(chime);
    await s.exit();
  });

  it('stops in an app that was started through a link', async () => {
    const s = scene();
    const real = s.app('tools.py', 'def tool(n):  # BP: tool\n    return n\n\nprint(tool(1))\n');
    const link = join(s.place.folder, 'link');
    symlinkSync(dirname(real), link, 'dir');
    await s.launch({ program: join(link, 'tools.py') }, { dots: { [real]: ['tool'] } });
    const stop = await s.stop();
    assert.equal(stop.name, 'tool(n=1) · function, before');
    await s.go(stop);
    assert.equal(await s.exit(), '1\n');
  });

  it('tells two files of one name apart', async () => {
    const s = scene();
    const text = (n: number): string => `def tool():  # BP: tool\n    return ${n}\n`;
    const one = s.app('one/tools.py', text(1));
    const two = s.app('two/tools.py', text(2));
    s.app('one/__init__.py', '');
    s.app('two/__init__.py', '');
    const main = s.app(
      'main.py',
      'from one import tools as a\nfrom two import tools as b\n\nprint(a.tool(), b.tool())\n',
    );
    await s.launch({ program: main }, { dots: { [two]: ['tool'] } });
    const stop = await s.stop();
    assert.equal(stop.top.source?.path, two);
    const [other] = await s.setDots(one, [{ at: 'tool', mode: 'after' }]);
    assert.equal(other!.verified, true);
    await s.go(stop);
    assert.equal(await s.exit(), '1 2\n');
  });
});
