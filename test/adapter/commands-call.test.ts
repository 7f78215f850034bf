import assert from 'node:assert/strict';
import type { QueryAnswer } from '../../protocol/query';
import { Tagged, Tuple, type Value } from '../../adapter/store/values/model';
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

  it('what a model had said when its stream ended early stands among its messages', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'llm', 'model', 'm.model', 'm', '/app/m.py', 1, 2);
    const message = (type: string, content: string): Tagged =>
      new Tagged('object', [`langchain_core.messages.${type}`, dict({ content, type: 'ai' }), null]);
    const asked = dict({ messages: [dict({ role: 'user', content: 'count' })] });
    const error = new Tagged('error', ['ConnectionError', 'gone', null, null, null]);
    const attributes = dict({ 'gen_ai.request.model': 'x', 'toolbreak.partial': message('AIMessageChunk', 'one two') });
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, asked, null).add(4, 1, 2500, 1, error, attributes);
    const { stdout } = project.toolbreak('show', project.record('partial', [spool]), '1.1');
    assert.match(stdout, /\nMessages\n {2}user: count\n {2}ai \(so far\): one two\n\nAttributes\n {2}gen_ai[^\n]*\n$/);
  });

  it('what came of a call has room beside all that it was given', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 'refund', 'm.refund', 'm', '/app/m.py', 1, 2);
    const order = dict({ id: 7, lines: ['mug', 'lamp'], total: 700 });
    const given = dict({ order, customer: dict({ name: 'ann', region: 'eu' }) });
    const error = new Tagged('error', ['ValueError', 'amount 700 needs approval', null, null, null]);
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, given, null).add(4, 1, 2500, 1, error, null);
    const file = project.record('room', [spool]);
    const line = /✗ refund\(order=\{'id': 7.*…\): ValueError: amount 700 needs a/;
    assert.match(project.toolbreak('show', file).stdout, line);
    assert.match(project.toolbreak('query', file).stdout, /✗ refund\(order=\{.*…\): ValueError: amount 7/);
  });

  it('says in which lane it is, where calls have more than one', () => {
    const begun = () => new SpoolFile('4000001-abc').add(1, 1, 'tool', 'get', 'm.get', 'm', '/app/m.py', 1, 2);
    const called = (spool: SpoolFile, call: number, task: number) =>
      spool.add(3, call, 0, 1, task, 2000 + call, dict({}), null).add(4, call, 2500 + call, 0, null, null);
    const place = (file: string, call: string) => project.toolbreak('show', file, call).stdout.split('\n')[3];
    const json = (file: string, call: string) =>
      JSON.parse(project.toolbreak('show', file, call, '--json').stdout) as { task: string; pid: number };

    const alone = project.record('one task', [called(begun().add(2, 1, 'main', 0), 1, 1).add(2, 2, 'idle', 0)]);
    assert.equal(place(alone, '1.1'), '/app/m.py:1');
    assert.equal(json(alone, '1.1').task, 'main');

    const both = begun().add(2, 1, 'main', 0).add(2, 2, 'pool_0', 0);
    const file = project.record('two tasks', [called(called(both, 1, 1), 2, 2)]);
    assert.equal(place(file, '1.1'), 'lane main');
    assert.equal(place(file, '1.2'), 'lane pool_0');
    const [found] = (JSON.parse(project.toolbreak('query', file, '--task', 'pool', '--json').stdout) as QueryAnswer)
      .rows;
    const { task, pid } = json(file, '1.2');
    assert.ok(found?.type === 'call');
    assert.deepEqual({ task, pid }, { task: found.task, pid: found.pid });
    assert.equal(task, 'pool_0');
    assert.ok(pid > 1);
  });

  it('of a key that is longer than the line there is the value, too', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 'get', 'm.get', 'm', '/app/m.py', 1, 2);
    const given = dict({
      headers: dict({ [`https://shop.example/${'a/'.repeat(80)}`]: 'ok', short: 'x'.repeat(150) }),
    });
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, given, null).add(4, 1, 2500, 0, null, null);
    const { stdout } = project.toolbreak('show', project.record('keys', [spool]), '1.1');
    assert.match(stdout, /\n {4}https:\/\/shop\.example\/(a\/)+a?… = 'ok'\n {4}short = 'x+/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
  });

  it('a state of which a part was recorded is the same as far as that goes', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'node', 'late', 'm.late', 'm', '/app/m.py', 1, 2);
    const state = dict({ docs: new Tagged('cut', ['list', [1, 2], 9, 'too large']) });
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, dict({}), null).add(5, 1, 2100, 'before', state);
    spool.add(5, 1, 2200, 'after', state).add(4, 1, 2500, 0, dict({}), null);
    const shown = project.toolbreak('show', project.record('late', [spool]), '1.1').stdout;
    assert.match(shown, /\nState after\n {2}the same as the state before, as far as it was recorded\n/);
    assert.doesNotMatch(shown, /Changes/);
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
    const { rows } = JSON.parse(project.toolbreak('query', path, '--json', '--values').stdout) as QueryAnswer;
    assert.deepEqual(
      rows.map((row) => row.type === 'call' && row.values?.unmerged),
      [['best']],
    );
  });

  it('an exception without a message is told by its type, a stream that was left by what that means', () => {
    const error = (type: string, message: string, args: Value[]): Value =>
      new Tagged('error', [type, message, [], null, dict({ args: new Tuple(args) })]);
    const bare = new Tagged('opaque', ['object', '', '']);
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'llm', 'model', 'm.model', 'm', '/app/m.py', 1, 2);
    spool.add(2, 1, 'main', 0);
    const errors = [
      error('GeneratorExit', '', []),
      error('asyncio.exceptions.CancelledError', '<object>', [bare]),
      error('KeyError', '', []),
    ];
    errors.forEach((raised, index) => {
      const start = 2000 + 1000 * index;
      spool.add(3, index + 1, 0, 1, 1, start, dict({}), null).add(4, index + 1, start + 500, 2, raised, null);
    });
    const path = project.record('left', [spool]);
    const left = 'GeneratorExit: the consumer stopped before the end';
    const tree = project.toolbreak('show', path).stdout;
    assert.deepEqual(
      [...tree.matchAll(/\[cancelled\]: (.*)/g)].map(([, said]) => said),
      [left, 'CancelledError', 'KeyError'],
    );
    const said = [1, 2, 3].map((call) => project.toolbreak('show', path, `1.${call}`).stdout.split('\nError\n')[1]!);
    assert.deepEqual(
      said.map((text) => text.split('\n')[0]),
      [`  ${left}`, '  CancelledError', '  KeyError'],
    );
  });

  it('tells the whole message of an error, and where something is left out how to see it', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'tool', 'check', 'm.check', 'm', '/app/m.py', 1, 2);
    const message = `2 errors\n${'a word '.repeat(60)}and its end`;
    const raised = new Tagged('error', ['ValidationError', message, [], null, dict({})]);
    spool.add(2, 1, 'main', 0);
    spool.add(3, 1, 0, 1, 1, 2000, dict({ note: 'n' }), null).add(4, 1, 2500, 1, raised, null);
    spool.add(3, 2, 0, 1, 1, 3000, dict({ note: 'n '.repeat(100) }), null).add(4, 2, 3500, 0, null, null);
    const path = project.record('whole-error', [spool]);
    const failed = project.toolbreak('show', path, '1.1').stdout;
    assert.match(failed, /\nError\n {2}ValidationError: 2 errors\n {2}a word .* and its end\n/);
    assert.doesNotMatch(failed, /--full/);
    const [cut, full] = [[], ['--full']].map((more) => project.toolbreak('show', path, '1.2', ...more).stdout);
    assert.match(cut!, /…\n[^]*\nSome of it is left out here: --full shows all\.\n$/);
    assert.doesNotMatch(full!, /…|--full/);
  });

  it('says where a node goes on to once, however often', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'node', 'start', 'm.start', 'm', '/app/m.py', 1, 2);
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, dict({}), null).add(4, 1, 2500, 0, null, null);
    for (const to of [['work', 'check', ...Array<string>(59).fill('work')], '__end__'])
      spool.add(6, 2600, 'route', 1, dict({ to }));
    const path = project.record('routes', [spool]);
    const shown = project.toolbreak('show', path, '1.1').stdout;
    assert.match(shown, / {2}Goes on to work \(60 times\), check\n.* {2}Goes on to the end\n$/);
  });

  it('the line of a model in the tree ends with its tokens, also where it is cut', () => {
    const spool = new SpoolFile('4000001-abc').add(1, 1, 'llm', 'model', 'm.model', 'm', '/app/m.py', 1, 2);
    spool.add(1, 2, 'tool', 'look', 'm.look', 'm', '/app/m.py', 3, 4).add(2, 1, 'main', 0);
    const used = (given: number, answered: number): Value =>
      dict({ 'gen_ai.usage.input_tokens': given, 'gen_ai.usage.output_tokens': answered });
    spool.add(3, 1, 0, 1, 1, 2000, dict({ q: 'a' }), null).add(4, 1, 2500, 0, null, used(1200, 34));
    spool.add(3, 2, 0, 1, 1, 3000, dict({ q: 'a'.repeat(100) }), null).add(4, 2, 3500, 0, null, used(1, 0));
    spool.add(3, 3, 0, 1, 1, 4000, dict({}), null).add(4, 3, 4500, 0, null, null);
    spool.add(3, 4, 0, 2, 1, 5000, dict({}), null).add(4, 4, 5500, 0, null, null);
    const path = project.record('tokens', [spool]);
    const [, first, second, third, fourth] = project.toolbreak('show', path).stdout.split('\n');
    assert.match(first!, / llm model\(q='a'\) · 1,234 tokens$/);
    assert.match(second!, / llm model\(q='a+…a*…\) · 1 token$/);
    assert.equal([...second!].length, 100);
    assert.match(third!, / llm model\(\)$/);
    assert.match(fourth!, / tool look\(\)$/);
  });
});
