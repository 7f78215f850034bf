import assert from 'node:assert/strict';
import { join } from 'node:path';
import { lateDelegate } from '../support/delegateBetween';
import { debuggers, nativeFixtures } from '../support/native';
import { rows, type Stop } from './e2e-support';
import { lineOf, nativeScenes, type DotOf } from './native-support';

const SOURCE = join(nativeFixtures, 'beside.c');
const TURNS = 40;

nativeScenes(
  'A breakpoint that a thread hits while another one stops',
  (native) => {
    const begin = async (...dots: DotOf[]): Promise<void> => {
      const { s, delegate, compiled } = native();
      const program = compiled.program('beside.c', ['-pthread']);
      await s.client.launch({ program, cwd: nativeFixtures, lldbDap: delegate.path }, async () => {
        const breakpoints = dots.map(({ at, ...dot }) => ({ ...dot, line: lineOf('beside.c', at) }));
        await s.client.request('setBreakpoints', { source: { path: SOURCE }, breakpoints });
      });
    };
    /** Goes on until a stop at this line, with every other stop on the way. */
    const until = async (name: string): Promise<Stop> => {
      const { s, stop, go } = native();
      for (;;) {
        let at = await stop();
        // Those that stopped together go on together.
        while (at.top.line !== lineOf('beside.c', name) && s.client.pending('stopped').length > 0) at = await stop();
        if (at.top.line === lineOf('beside.c', name)) return at;
        await go(at);
      }
    };
    const written = async (): Promise<string[]> =>
      rows<{ data: string }>(
        await native().s.recording(),
        "SELECT data FROM events WHERE name = 'log' ORDER BY id",
      ).map(({ data }) => (JSON.parse(data) as { text: string }).text);
    const turns = (pass: (turn: number) => boolean = () => true): string[] =>
      Array.from({ length: TURNS }, (_, index) => index + 1)
        .filter(pass)
        .map((turn) => `turn ${turn}`);

    it('writes its log message once each time', async () => {
      const { s, go } = native();
      await begin({ at: 'there', logMessage: 'turn {turn}' }, { at: 'here' }, { at: 'end' });
      await go(await until('end'));
      await s.exit();
      assert.deepEqual(await written(), turns());
    });

    it('writes its log message when its condition is met, and only then', async () => {
      const { s, go } = native();
      await begin(
        { at: 'there', logMessage: 'turn {turn}', condition: 'turn % 4 == 1' },
        { at: 'here' },
        { at: 'end' },
      );
      await go(await until('end'));
      await s.exit();
      assert.deepEqual(
        await written(),
        turns((turn) => turn % 4 === 1),
      );
    });

    it('counts each hit once', async () => {
      const { s, go } = native();
      await begin({ at: 'there', hitCondition: '17' }, { at: 'here' });
      const at = await until('there');
      assert.equal(await s.evaluate(at, 'turn'), '17');
      await s.client.request('setBreakpoints', { source: { path: SOURCE }, breakpoints: [] });
      await go(at);
      await s.exit();
    });
  },
  debuggers(),
);

nativeScenes('A debugger that tells late of a second thread', (native) => {
  it('tells every hit of both', async () => {
    const { s, delegate, compiled } = native();
    const program = compiled.program('beside.c', ['-pthread']);
    const lldbDap = lateDelegate(compiled.folder, delegate);
    let ids: (number | undefined)[] = [];
    await s.client.launch({ program, cwd: nativeFixtures, lldbDap }, async () => {
      const breakpoints = ['there', 'here', 'end'].map((name) => ({ line: lineOf('beside.c', name) }));
      const set = await s.client.request('setBreakpoints', { source: { path: SOURCE }, breakpoints });
      ids = set.breakpoints.map(({ id }) => id);
    });
    const [there, here, end] = ids;
    const hits: (number | undefined)[] = [];
    for (let hit; hit !== end; hits.push(hit)) {
      const { threadId, hitBreakpointIds } = await s.client.waitFor('stopped');
      hit = hitBreakpointIds?.[0];
      // It goes on already where the other one of the same moment was let go.
      await s.client.request('continue', { threadId: threadId! }).catch((error: unknown) => {
        assert.match(String(error), /is running|has ended|went on/);
      });
    }
    await s.exit();
    assert.deepEqual(
      [there, here].map((id) => hits.filter((hit) => hit === id).length),
      [TURNS, TURNS],
    );
  });
});
