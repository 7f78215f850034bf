import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  apps,
  bare,
  comparable,
  debugged,
  functions,
  markers,
  probes,
  type App,
  type Debugged,
  type Manner,
} from './e2e-outcomes-support';
import { Place } from './target-support';

/** Ways to debug a program. None may change what it does. */
const MANNERS: Record<string, Manner> = {
  recorded: { record: { functions: ['@usercode'] } },
  'not recorded': { record: false },
  'with conditions that are never true': {
    record: true,
    dots: (file) => functions(file).map((line) => ({ line, condition: '1 == 2' })),
  },
  'held and released': {
    record: { functions: ['@usercode'] },
    dots: (file) => markers(file).map((line) => ({ line })),
  },
};

const fixture = (folder: string, program: string, more: Partial<App> = {}): App => ({
  program: join(apps, folder, program),
  cwd: join(apps, folder),
  ...more,
});

const FIXTURES: Record<string, App> = {
  'level 0': fixture('level0', 'calculator.py'),
  'level 1': fixture('level1', 'calculator.py'),
  'level 2': fixture('level2', 'files.py'),
  'level 3': fixture('level3', 'dispatcher.py'),
  'level 4': fixture('level4', 'dispatcher.py'),
  'level 5': fixture('level5', 'agent.py'),
  langgraph: fixture('langgraph', 'triage.py'),
  'langgraph, async and streamed': fixture('langgraph', 'triage.py', { args: ['--async', '--stream'] }),
  'langgraph, streamed': fixture('langgraph', 'triage.py', { args: ['--stream'] }),
  'langgraph, fan-out': fixture('langgraph', 'triage.py', { args: ['--fanout'] }),
  'langgraph, prebuilt': fixture('langgraph', 'triage.py', { args: ['--prebuilt'] }),
  'langgraph, prebuilt and async': fixture('langgraph', 'triage.py', { args: ['--prebuilt', '--async'] }),
  'langgraph, interrupted': fixture('langgraph', 'triage.py', { args: ['--interrupt'] }),
  pools: fixture('pools', 'pools.py'),
  uncaught: fixture('uncaught', 'uncaught.py'),
  secrets: fixture('secrets', 'secrets_app.py'),
  'secrets in a graph': fixture('secrets', 'secrets_graph.py'),
  chat: fixture('chat', 'chat.py', { stdin: 'hello\nworld\nbye\n' }),
};

describe('What a program does is the same under a debugger', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.remove());

  for (const [name, app] of Object.entries(FIXTURES)) {
    it(name, async () => {
      const expected = comparable(await bare(app, place.folder));
      const others = readdirSync(dirname(app.program))
        .filter((file) => file.endsWith('.py') && join(app.cwd, file) !== app.program)
        .map((file) => join(app.cwd, file));
      const ran = await Promise.all(
        Object.entries(MANNERS).map(async ([manner, how]): Promise<[string, Debugged]> => [
          manner,
          await debugged(app, { ...how, files: others }),
        ]),
      );
      for (const [manner, outcome] of ran) {
        assert.deepEqual(comparable(outcome), expected, `${manner}: ${outcome.said}`);
        // A manner that holds nothing would prove nothing.
        assert.equal(outcome.holds > 0, manner.startsWith('held'), `${manner}: ${outcome.holds} holds`);
      }
    });
  }
});

const ENDS = (
  'uncaught plain exits text hard killed aborted interrupted daemon joined dead-thread broken-hook unraisable ' +
  'never-awaited in-task warned syntax group unreadable'
).split(' ');

describe('What a program sees, and how it ends, is the same under a debugger', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.remove());

  const program = (name: string, more: Partial<App>): App => ({ program: join(probes, name), cwd: probes, ...more });

  const same = async (app: App, manners = MANNERS): Promise<void> => {
    const expected = comparable(await bare(app, place.folder));
    const ran = await Promise.all(
      Object.entries(manners).map(async ([manner, how]) => [manner, await debugged(app, how)] as const),
    );
    for (const [manner, outcome] of ran) {
      assert.deepEqual(comparable(outcome), expected, `${manner}: ${outcome.said}`);
    }
  };

  it('looks at itself and at its interpreter', () => same(program('probe.py', { args: ['one', '--two=2'] })));
  it('looks with warnings as errors', () => same(program('probe.py', { args: [], env: { PYTHONWARNINGS: 'error' } })));
  it('goes to the recursion limit and traces itself while nothing is armed', () =>
    same(program('probe.py', { args: ['--deep'] }), {
      'not recorded': MANNERS['not recorded']!,
      quiet: { record: true },
    }));

  // These programs have no markers, so each function is held.
  const held = { ...MANNERS['held and released']!, dots: (file: string) => functions(file).map((line) => ({ line })) };
  for (const end of ENDS) {
    it(`ends: ${end}`, () => same(program('ends.py', { args: [end] }), { ...MANNERS, 'held and released': held }));
  }

  it('ends: recursion', async () => {
    const app = program('ends.py', { args: ['recursion'] });
    const expected = comparable(await bare(app, place.folder));
    await same(app, { 'not recorded': MANNERS['not recorded']!, quiet: { record: true } });
    // Where functions are touched, what we do for each call takes room, too, so the limit is met a few calls earlier.
    const { code, stdout, stderr } = comparable(await debugged(app, MANNERS['recorded']!));
    assert.deepEqual({ code, stdout }, { code: expected.code, stdout: expected.stdout });
    assert.match(stderr, /\nRecursionError: maximum recursion depth exceeded.*\n$/);
    assert.doesNotMatch(stderr, /Toolbreak|During handling/);
  });
});
