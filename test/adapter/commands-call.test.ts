import assert from 'node:assert/strict';
import { RecordedProject } from './recorded';
import { SpoolFile, dict } from '../support/spool';

describe('commands: all of one call', function () {
  this.timeout(60_000);
  let project: RecordedProject;
  before(() => {
    project = new RecordedProject();
  });
  after(() => project.remove());

  it('an attribute that is a list or a dict is shown with what is in it, a long one says how much more there is', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'llm', 'model', 'm.model', 'm', '/app/m.py', 1, 2);
    const attributes = dict({
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 259,
      long: Array.from({ length: 1200 }, (_, index) => index),
      rows: [dict({ id: 7, tags: ['a', 'b'] }), []],
      text: 'word '.repeat(100),
    });
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, dict({}), null).add(4, 1, 2500, 0, null, attributes);
    const path = project.record('attributes', [spool]);
    const shown = project.toolbreak('show', path, '1.1').stdout.split('\nAttributes\n')[1]!;
    const [reasons, tokens, long, rows, text] = shown.split('\n');
    assert.deepEqual(
      [reasons, tokens, rows],
      [
        "  gen_ai.response.finish_reasons = ['stop']",
        '  gen_ai.usage.input_tokens = 259',
        "  rows = [{'id': 7, 'tags': ['a', 'b']}, []]",
      ],
    );
    assert.match(long!, /^ {2}long = \[0, 1, 2, .*, [12]\d, … 1,1\d\d more\]$/);
    assert.match(text!, /^ {2}text = word word .*….*word +\(500 characters\)$/);
    assert.match(project.toolbreak('show', path, '1.1', '--full').stdout, /, 1198, 1199\]\n/);
    const json = JSON.parse(project.toolbreak('show', path, '1.1', '--json').stdout) as {
      attributes: { name: string; value: unknown }[];
    };
    assert.deepEqual(json.attributes.slice(0, 2), [
      { name: 'gen_ai.response.finish_reasons', value: ['stop'] },
      { name: 'gen_ai.usage.input_tokens', value: 259 },
    ]);
    assert.equal((json.attributes[2]!.value as number[]).length, 1200);
  });

  it('a key of the state that was not merged is named where the state is', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'node', 'best', 'm.best', 'm', '/app/m.py', 1, 2);
    const state = dict({ best: 1 });
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, dict({}), null).add(5, 1, 2100, 'before', state);
    spool
      .add(5, 1, 2200, 'after', state)
      .add(4, 1, 2500, 0, dict({ best: 5 }), dict({ 'langgraph.unmerged': ['best'] }));
    const path = project.record('unmerged', [spool]);
    assert.match(
      project.toolbreak('show', path, '1.1').stdout,
      /\nState after\n {2}the same as the state before\n {2}\(best is shown as it was before: recording does not run its own reducer\)\n\nAttributes\n {2}langgraph\.unmerged = \['best'\]\n$/,
    );
  });
});
