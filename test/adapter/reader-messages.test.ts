import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageTitle } from '../../protocol/timeline';
import { callDetail } from '../../adapter/store/reader/detail';
import { line } from '../../adapter/store/reader/render';
import { RunFile } from '../../adapter/store/reader/runFile';
import type { StoredValues } from '../../adapter/store/reader/stored';
import { recoverSpool } from '../../adapter/store/recover';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { Tagged, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';

const TYPES: Record<string, string> = { human: 'HumanMessage', ai: 'AIMessage', remove: 'RemoveMessage', tool: 'ToolMessage', chat: 'ChatMessage' }; // prettier-ignore
const message = (type: string, content: Value, more: Record<string, Value> = {}): Tagged =>
  new Tagged('object', [`langchain_core.messages.${TYPES[type]}`, dict({ content, type, ...more }), null]);

describe('reader: messages of a call', () => {
  let root: string;
  let file: RunFile | undefined;

  /** The messages of a call of this kind. */
  function messages(
    kind: string,
    parts: { args?: Value; before?: Value; after?: Value; result?: Value; attributes?: Value },
  ): string[] {
    const spool = new SpoolFile('4000001-abc').add(1, 1, kind, 'call', 'm.call', 'm', '/app/m.py', 1, 2);
    spool.add(2, 1, 'main', 0).add(3, 1, 0, 1, 1, 2000, parts.args ?? dict({}), null);
    if (parts.before !== undefined) spool.add(5, 1, 2100, 'before', parts.before);
    if (parts.after !== undefined) spool.add(5, 1, 2200, 'after', parts.after);
    spool.add(4, 1, 2500, 0, parts.result ?? null, parts.attributes ?? null);
    const folder = join(root, 'sessions', 's', 'spool', 'a');
    const path = join(root, 'projects', 'p', 'runs', 'a.db');
    mkdirSync(folder, { recursive: true });
    mkdirSync(dirname(path), { recursive: true });
    spool.write(folder);
    writeOwner(folder, { runFile: path, run: 'a', session: 's', name: 'app.py', pid: 4000002, pidStart: '1' });
    recoverSpool(folder);
    file = new RunFile(path);
    return (callDetail(file, '1.1').messages ?? []).map((said) => `${messageTitle(said)}: ${said.text}`);
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
  });
  afterEach(() => {
    file?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('of a node are those that its state has after it', () => {
    const [first, summary] = [message('human', 'one', { id: 'm1' }), message('ai', 'sum', { id: 's' })];
    const result = dict({ messages: [message('remove', '', { id: 'm1' }), summary] });
    const state = { before: dict({ messages: [first] }), after: dict({ messages: [summary] }), result };
    assert.deepEqual(messages('node', state), ['ai: sum']);
  });

  it('of very many are the last ones', () => {
    const all = Array.from({ length: 600 }, (_, index) => message('human', `${index}`, { id: `m${index}` }));
    const said = messages('node', { after: dict({ messages: [...all, message('ai', 'newest')] }) });
    assert.deepEqual([said.length, said[0], said.at(-1)], [500, 'human: 101', 'ai: newest']);
  });

  it('of a node whose messages were not merged are those before it and its answer, which names what it removes', () => {
    const all = [message('remove', '', { id: 'm1' }), message('remove', '', { id: '__remove_all__' })];
    const before = dict({ messages: [message('human', 'one', { id: 'm1' })] });
    assert.deepEqual(
      messages('node', {
        before,
        after: before,
        result: dict({ messages: all }),
        attributes: dict({ 'langgraph.unmerged': ['messages'] }),
      }),
      ['human: one', 'remove: message m1', 'remove: all messages'],
    );
  });

  const block = (type: string, more: Record<string, Value> = {}): Value => dict({ type, ...more });
  const shapes: [Tagged, line: string, said?: string][] = [
    [
      message('human', [block('image_url'), block('file', { url: 'http://x/y.pdf?z=/1' })]),
      'human: [image] [file y.pdf]',
    ],
    [
      message('human', [block('input_audio'), block('file', { file: dict({ filename: 'a.pdf' }) }), 'hi']),
      'human: [audio] [file a.pdf] hi',
    ],
    [
      message(
        'ai',
        [
          block('thinking', { thinking: 'hmm' }),
          block('text', { text: 'foo' }),
          block('text', { text: 'bar' }),
          block('tool_use'),
        ],
        {
          tool_calls: [dict({ name: 'f', args: dict({ a: 1 }) })],
          invalid_tool_calls: [dict({ name: 'g', args: '{bad', error: 'parse' })],
        },
      ),
      'ai: [thinking] foobar → f, g (invalid)',
      'ai: [thinking: hmm] foobar → f(a=1), g({bad) (invalid: parse)',
    ],
    [
      message('ai', '4', { additional_kwargs: dict({ reasoning_content: '2 + 2' }) }),
      'ai: [reasoning] 4',
      'ai: [reasoning: 2 + 2] 4',
    ],
    [message('human', ['foo', 'bar']), 'human: foo bar'],
    [message('chat', 'be brief', { role: 'developer' }), 'developer: be brief'],
    [
      message('tool', 'no', { tool_call_id: '1', name: 'refund', status: 'error', artifact: [1] }),
      'tool refund (error): no (with an artifact)',
    ],
    [
      message('tool', 'sent', { tool_call_id: '1', name: 'refund', status: 'success', artifact: null }),
      'tool refund: sent',
    ],
    [message('remove', '', { id: 'm1' }), 'remove: message m1'],
  ];
  it('tell what of them is no text, who says it, and what went wrong', () => {
    const stored = { resolve: (value: Value) => value } as StoredValues;
    for (const [value, said] of shapes) assert.equal(line(value, stored), said);
    assert.deepEqual(
      messages('llm', { args: dict({ messages: shapes.map(([value]) => value) }) }),
      shapes.map(([, short, whole]) => whole ?? short),
    );
  });

  it('of a workflow are those that it answers, or those that it was given', () => {
    const [question, answer] = [message('human', 'why?'), message('ai', 'so')];
    const args = dict({ input: dict({ messages: [question] }) });
    assert.deepEqual(messages('workflow', { args, result: dict({ messages: [question, answer] }) }), [
      'human: why?',
      'ai: so',
    ]);
  });

  it('of a workflow without an answer are those that it was given', () => {
    const args = dict({ input: dict({ messages: [message('human', 'why?')] }) });
    assert.deepEqual(messages('workflow', { args }), ['human: why?']);
  });
});
