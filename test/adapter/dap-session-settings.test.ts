import assert from 'node:assert/strict';
import { UserError } from '../../adapter/common/errors';
import { refusal, Stage } from './dap-support';

const FILE = '/app/triage.py';

describe('DAP session: what a debug configuration says', () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    await stage.end();
    assert.deepEqual(stage.problems, []);
  });

  it('starts nothing with a mask pattern that would mask nothing', async () => {
    const client = stage.client();
    await client.initialize();
    for (const [pattern, why] of [
      ['ssn (\\d+', 'it is no regular expression that means the same in Python and outside of it'],
      ['x*', 'nothing at all may fit it'],
    ] as const) {
      const sentence = `"record.maskPatterns" cannot have "${pattern}": ${why}.`;
      const given = { program: '/app/triage.py', record: { maskPatterns: ['C-\\d+', pattern] } };
      await assert.rejects(client.send('launch', given).answer, { message: sentence });
    }
    assert.equal(stage.target, undefined);
  });

  it('says which pattern can name no function to record', async () => {
    const client = stage.client();
    await client.initialize();
    const functions = ['@usercode', '@user', '@file:src/*.py'];
    const begun = client.send('launch', { program: '/app/triage.py', record: { functions } }).answer;
    await client.waitForOutput('important', '"@user" of "record.functions" names no function.');
    await client.request('configurationDone', {});
    await begun;
    assert.equal((client.output.important ?? '').match(/names no function/g)?.length, 1);
  });

  it('names the attribute that is wrong', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [{ program: 'a.py', hold: 'everything' }, '"hold" must be one of: task, all.'],
      [{ program: 7 }, '"program" must be a text.'],
      [{ program: 'a.py', args: ['x', 1] }, '"args[1]" must be a text.'],
      [{ program: 'a.py', record: { enabled: 'yes' } }, '"record.enabled" must be true or false.'],
      [
        { program: 'a.py', record: { enable: false } },
        '"record.enable" is not an attribute in the debug configuration. Remove it.',
      ],
      [{ program: 'a.py', record: { maxDepth: 0 } }, '"record.maxDepth" must be at least 1.'],
      [{ program: 'a.py', trace: 3 }, '"trace" must be true or false or a text.'],
    ];
    for (const [attributes, sentence] of cases) {
      const client = stage.client();
      await client.initialize();
      const refused = await refusal(client.send('launch', attributes).answer);
      assert.equal(refused.message, sentence);
      assert.ok(refused.showUser);
      await client.end();
    }
  });

  it('says what kept the app from starting', async () => {
    stage.prepare = (target) =>
      (target.startError = new UserError('Python not found at .venv/bin/python.', {
        title: 'Choose',
        command: 'python.choose',
      }));
    const client = stage.client();
    await client.initialize();
    const launch = client.send('launch', { program: FILE }).answer;
    await client.waitFor('initialized');
    await client.request('configurationDone', {});
    const refused = await refusal(launch);
    assert.equal(refused.message, 'Python not found at .venv/bin/python.');
    assert.ok(refused.showUser);
    assert.equal((refused.response.body as { error: { url: string } }).error.url, 'command:python.choose');
    await client.request('disconnect', {});
  });
});
