import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallDetail } from '../../protocol/timeline';
import { runsFolder } from '../../adapter/common/paths';
import { startMark } from '../../adapter/store/alive';
import { callName } from '../../adapter/store/callNames';
import type { Chunk } from '../../adapter/store/chunks/chunk';
import { openForWriting } from '../../adapter/store/database';
import { writeFormat } from '../../adapter/store/formats/write';
import { checkRun } from '../../adapter/store/life/check';
import { importFile, type Imported } from '../../adapter/store/life/import';
import { callDetail } from '../../adapter/store/reader/detail';
import { RunFile } from '../../adapter/store/reader/runFile';
import { changeCalls, unpackCalls } from '../support/run-file';
import { apps } from './e2e-support';
import { LifePlace } from './life-support';

const VALUES = `
def told(given):
    return given

def deep(number):
    error = ValueError("no %d" % number)
    error.code = 7
    raise error

def outer(number):
    deep(number)

for each in [21.0, -0.0, 1e16, 1e300, 0.5, 21, 2**40, "21.0"]:
    told(each)
try:
    outer(3)
except ValueError:
    pass
`;

const ASKS = `
from typing import TypedDict
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

class Leaving(GenericFakeChatModel):
    pass

class ChatOpenAI(GenericFakeChatModel):
    model: str = "fake-4o"

def answer(provider):
    metadata = {"finish_reason": "stop", **({"model_provider": provider} if provider else {})}
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13,
             "input_token_details": {"cache_read": 5, "cache_creation": 2}, "output_token_details": {"reasoning": 3}}
    return AIMessage("yes", response_metadata=metadata, usage_metadata=usage)

class State(TypedDict):
    said: str

def ask(state):
    ChatOpenAI(messages=iter([answer("mistralai")])).invoke("sure?")
    ChatOpenAI(messages=iter([answer(None)])).invoke("sure?")
    GenericFakeChatModel(messages=iter([answer(None)])).invoke("sure?")
    return {"said": interrupt("really?")}

graph = StateGraph(State).add_node(ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())
graph.invoke({"said": ""}, {"configurable": {"thread_id": "1"}})

for piece in Leaving(messages=iter([AIMessage("one two")])).stream("left"):
    break
`;

const AGENT = `
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

model = GenericFakeChatModel(messages=iter([AIMessage("hello")]))
create_agent(model, [], name="helper").invoke({"messages": ["hi"]})
StateGraph(MessagesState).add_node("say", lambda state: {}).add_edge(START, "say").compile(name="plain").invoke({"messages": []})
`;

interface ExportedSpan {
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  events?: { name: string }[];
  status?: unknown;
}

interface Document {
  resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
}

describe('life: what was exported as OTLP comes back', function () {
  this.timeout(120_000);
  let place: LifePlace;
  let number = 0;
  before(() => (place = new LifePlace()));
  after(() => place.remove());

  async function again(file: string): Promise<{ said: Imported; details: CallDetail[]; spans: ExportedSpan[] }> {
    const out = join(place.folder, `${++number}.otlp`);
    await writeFormat(file, out, 'otlp', '0');
    const said = await importFile(out, runsFolder(join(place.folder, String(number)), place.state));
    const spans = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as Document).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    return { said, details: details(said.file), spans };
  }

  /** Of every call, in the order of their starts. */
  function details(file: string): CallDetail[] {
    const run = new RunFile(file);
    try {
      const ids = unpackCalls(run.db).prepare('SELECT id FROM calls ORDER BY start, id').pluck().all() as number[];
      return ids.map((id) => callDetail(run, callName(id)));
    } finally {
      run.close();
    }
  }
  const named = (all: CallDetail[], name: string): CallDetail => all.find(({ call }) => call.name === name)!;
  const outline = (detail: CallDetail): unknown => [
    detail.call.name,
    detail.messages,
    detail.changes?.map(({ path }) => path),
    detail.stateBefore?.root.children,
    detail.stateAfter?.root.children,
  ];

  it('states, changes and messages', async () => {
    const file = await place.record(join(apps, 'langgraph', 'triage.py'), ['please refund order 7']);
    const [before, { said, details: after }] = [details(file), await again(file)];
    assert.deepEqual(after.map(outline), before.map(outline));
    assert.ok(after.some(({ changes }) => changes !== undefined && changes.length > 0));
    const models = after.filter(({ call }) => call.kind === 'llm');
    assert.ok(models.length > 0 && models.every(({ messages }) => messages !== undefined));
    const names = after.flatMap(({ attributes }) => attributes.map(({ name }) => name));
    assert.deepEqual(
      names.filter((name) => /^toolbreak\.(?!attribute)|\.messages$/.test(name)),
      [],
    );
    const { rows } = await place.json<{ rows: unknown[] }>(
      'query',
      said.file,
      '--where',
      'state.messages contains refund',
    );
    assert.ok(rows.length > 0);
  });

  it('an agent is told from other workflows', async () => {
    const program = place.file('agent.py', AGENT);
    const file = await place.record(program);
    const db = openForWriting(file);
    db.exec(`UPDATE runs SET workflow = 'nightly'`);
    db.close();
    const { spans, said } = await again(file);
    assert.equal(said.name, 'nightly');
    const names = spans.map(({ name }) => name).filter((name) => name.startsWith('invoke_'));
    assert.deepEqual(names, ['invoke_agent helper', 'invoke_workflow plain']);
    const { rows } = await place.json<{ rows: { call: { name: string } }[] }>('query', said.file, '--kind', 'workflow');
    assert.deepEqual(
      rows.map(({ call }) => call.name),
      ['helper', 'plain'],
    );
  });

  it('floats that are whole, and the frames of an error', async () => {
    const file = await place.record(place.file('values.py', VALUES));
    const [before, { details: after }] = [details(file), await again(file)];
    const told = (all: CallDetail[]): unknown =>
      all.filter(({ call }) => call.name === 'told').map(({ output }) => [output?.root.type, output?.root.text]);
    assert.deepEqual(told(after), told(before));
    assert.deepEqual((told(after) as unknown[])[0], ['float', '21.0']);
    const error = (all: CallDetail[]): unknown => named(all, 'outer').error;
    assert.deepEqual((error(after) as { stack: unknown[] }).stack, (error(before) as { stack: unknown[] }).stack);
    assert.ok((error(after) as { stack: unknown[] }).stack.length >= 2);
  });

  it('what cancelled a call is no error to others, and a model says whose it is', async () => {
    const file = await place.record(place.file('asks.py', ASKS));
    const [before, { said, details: after, spans }] = [details(file), await again(file)];
    const attributes = ({ attributes }: ExportedSpan): Record<string, unknown> =>
      Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
    for (const name of ['ask', 'chat Leaving']) {
      const span = spans.find((one) => one.name === name)!;
      assert.deepEqual([span.events, span.status, attributes(span)['error.type']], [undefined, undefined, undefined]);
    }
    const left = spans.find(({ name }) => name === 'chat Leaving')!;
    assert.equal(attributes(left)['toolbreak.cancelled.type'], 'GeneratorExit');
    const error = (all: CallDetail[]): unknown => {
      const { type, message, stack } = named(all, 'Leaving').error!;
      return [named(all, 'Leaving').call.state, type, message, stack];
    };
    assert.deepEqual(error(after), error(before));
    const saidIn = (all: CallDetail[]): unknown => named(all, 'Leaving').messages;
    assert.match(JSON.stringify(saidIn(before)), /so far/);
    assert.deepEqual(saidIn(after), saidIn(before));
    const question = (all: CallDetail[]): unknown => {
      const { call, output } = named(all, 'ask');
      return [call.state, output?.root.text];
    };
    assert.deepEqual(question(after), ['interrupted', "'really?'"]);
    assert.deepEqual(question(before), question(after));

    const models = spans.map(attributes).filter((each) => each['toolbreak.kind'] === 'llm');
    assert.deepEqual(
      models.map((each) => each['gen_ai.provider.name']),
      ['mistral_ai', 'openai', undefined, undefined],
    );
    const [first] = models;
    assert.deepEqual(
      ['cache_read.input_tokens', 'cache_creation.input_tokens', 'reasoning.output_tokens'].map(
        (name) => first![`gen_ai.usage.${name}`],
      ),
      ['5', '2', '3'],
    );
    const [message] = JSON.parse(first!['gen_ai.output.messages'] as string) as { finish_reason: string }[];
    assert.equal(message!.finish_reason, 'stop');
    assert.deepEqual([first!['code.function.name'], first!['toolbreak.qualified']], [undefined, 'ChatOpenAI.fake-4o']);
    const { rows } = await place.json<{ rows: unknown[] }>('query', said.file, '--name', 'ChatOpenAI.fake-4o');
    assert.equal(rows.length, 2);
  });

  it('what happened in a call, and the process that it ran in; what belongs to no call is counted', async () => {
    const file = await place.record(place.file('printing.py', 'def work(n):\n    print("n", n)\n\nwork(1)\nwork(2)\n'));
    const db = openForWriting(file);
    const call = unpackCalls(db).prepare('SELECT id FROM calls ORDER BY start LIMIT 1').pluck().get() as number;
    const { time } = db.prepare('SELECT last AS time FROM processes').get() as { time: number };
    const add = db.prepare('INSERT INTO events (time, name, call, data) VALUES (?, ?, ?, ?)');
    add.run(time - 2, 'log', call, JSON.stringify({ text: 'order 7', line: 3 }));
    add.run(time - 1, 'route', call, JSON.stringify({ to: ['tools'] }));
    add.run(time, 'skipped', call, JSON.stringify({ client: 'editor' }));
    add.run(time, 'crash', call, JSON.stringify({ text: 'not to be taken for one of a span' }));
    db.close();
    const process = (path: string): unknown => {
      const run = new RunFile(path);
      const row = run.db.prepare('SELECT name, pid, language_version, executable, cwd, argv FROM processes').get();
      run.close();
      return row;
    };
    const events = async (path: string): Promise<string[]> => {
      const { rows } = await place.json<{ rows: { text: string; call?: unknown }[] }>('query', path, '--type', 'event');
      return rows.filter((row) => row.call !== undefined).map(({ text }) => text);
    };
    const { said } = await again(file);
    assert.deepEqual(process(said.file), process(file));
    assert.notEqual((process(file) as { pid: number }).pid, 0);
    const told = ['Log: order 7', 'Goes on to tools', 'Skipped by editor'];
    assert.deepEqual(await events(file), told);
    assert.deepEqual(await events(said.file), told);

    const run = new RunFile(file);
    const others = run.db
      .prepare(`SELECT count(*) FROM events WHERE name IN ('output', 'crash')`)
      .pluck()
      .get() as number;
    run.close();
    const out = join(place.folder, 'printing.otlp');
    const { stdout } = await place.say('export', file, '--format', 'otlp', '-o', out);
    assert.match(
      stdout,
      new RegExp(`^${others} events?, such as what was printed, (is|are) not in it: this format has no place for`, 'm'),
    );
    assert.match(stdout, /^Leave --format out to write all that was recorded\.$/m);
    assert.doesNotMatch(readFileSync(out, 'utf8'), /not to be taken/);
    const inPerfetto = await place.say('export', file, '--format', 'perfetto', '-o', `${out}.json`);
    assert.doesNotMatch(inPerfetto.stdout, /not in it/);
    // Of an imported run whose process nobody knows, no process is named.
    const spans = readFileSync(out, 'utf8').replace(/\{"key":"process\.pid","value":\{"intValue":"\d+"\}\},/, '');
    const unknown = place.file('unknown.otlp', spans);
    const { file: bare } = await importFile(unknown, runsFolder(join(place.folder, 'bare'), place.state));
    await place.say('export', bare, '--format', 'otlp', '-o', `${out}.bare`);
    assert.doesNotMatch(readFileSync(`${out}.bare`, 'utf8'), /process\.pid/);
  });

  it('calls of which no end is known, until when they ran', async () => {
    const file = await place.record(
      place.file('plain.py', 'def work(n):\n    return n\n\nwork(1)\nwork(2)\nwork(3)\n'),
    );
    const changed = async (name: string, change: (chunk: Chunk, slot: number) => void, sql = ''): Promise<string> => {
      const copy = join(place.folder, name);
      copyFileSync(file, copy);
      const db = openForWriting(copy);
      const second = unpackCalls(db).prepare('SELECT id FROM calls ORDER BY start LIMIT 1 OFFSET 1').pluck().get();
      changeCalls(db, (chunk, slot, call) => {
        if (call === second) change(chunk, slot);
      });
      if (sql !== '') db.exec(sql);
      db.close();
      return copy;
    };
    const ends = (all: CallDetail[]): unknown =>
      all.map(({ call, error }) => [call.unended ?? false, error?.type, call.unended && call.end! - call.start]);

    const lost = await changed('lost.db', (chunk, slot) => chunk.setEnd(slot, chunk.start[slot]! + 5, 4, undefined));
    const lostAgain = await again(lost);
    assert.deepEqual(ends(lostAgain.details), [
      [false, undefined, undefined],
      [true, 'Ended', 5],
      [false, undefined, undefined],
    ]);
    assert.equal(lostAgain.said.leftOut, undefined);

    // This process stands for the one that records.
    const live = `UPDATE runs SET stopped = NULL, ended = NULL, pid = ${process.pid}, pid_start = '${startMark(process.pid)}'`;
    const open = (chunk: Chunk, slot: number): void => {
      // Only an end that never came leaves a call so.
      (chunk as unknown as { flags: Uint8Array }).flags[slot]! &= ~2;
    };
    const running = await again(await changed('running.db', open, live));
    const [, second, third] = running.details;
    assert.equal(second!.call.unended, true);
    assert.ok(second!.call.end! > third!.call.end!, 'it ran until it was exported');
    const run = new RunFile(running.said.file);
    assert.ok(run.summary().duration >= second!.call.end!, 'and so did the run');
    run.close();
    assert.deepEqual(running.said.leftOut, [{ why: 'a call still ran when it was exported', count: 1 }]);
    assert.equal(checkRun(running.said.file).whole, true, 'a call without an end is no damage');
  });
});
