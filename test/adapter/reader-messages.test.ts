import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { callDetail } from '../../adapter/store/reader/detail';
import { RunFile } from '../../adapter/store/reader/runFile';
import { recoverSpool } from '../../adapter/store/recover';
import { writeOwner } from '../../adapter/store/spoolOwner';
import { Tagged, type Value } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';

const TYPES: Record<string, string> = { human: 'HumanMessage', ai: 'AIMessage', remove: 'RemoveMessage', tool: 'ToolMessage', chat: 'ChatMessage' }; // prettier-ignore
const message = (type: string, content: Value, more: Record<string, Value> = {}): Tagged =>
  new Tagged('object', [`langchain_core.messages.${TYPES[type]}`, dict({ content, type, ...more }), null]);

describe('reader: messages of a call', () => {
  let root: string;
  let file: RunFile;

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
    return (callDetail(file, '1.1').messages ?? []).map(({ role, text }) => `${role}: ${text}`);
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
  });
  afterEach(() => {
    file.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('of a node are those that its state has after it', () => {
    const [first, summary] = [message('human', 'one', { id: 'm1' }), message('ai', 'sum', { id: 's' })];
    const result = dict({ messages: [message('remove', '', { id: 'm1' }), summary] });
    const state = { before: dict({ messages: [first] }), after: dict({ messages: [summary] }), result };
    assert.deepEqual(messages('node', state), ['ai: sum']);
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
});
