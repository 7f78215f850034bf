import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runsFolder } from '../../adapter/common/paths';
import { callName } from '../../adapter/store/callNames';
import { plainJson } from '../../adapter/store/formats/plain';
import { importFile } from '../../adapter/store/life/import';
import { callDetail } from '../../adapter/store/reader/detail';
import { RunFile } from '../../adapter/store/reader/runFile';
import { LifePlace } from './life-support';

const NOW = 1_700_000_000_000_000_000n;

interface Seen {
  kind: string;
  name: string;
  input: unknown;
  output: unknown;
  messages: string[];
  attributes: Record<string, string>;
}

describe('life: import of spans as others write them', () => {
  let place: LifePlace;
  let count = 0;
  before(() => (place = new LifePlace()));
  after(() => place.remove());

  type Attribute = string | number | { doubleValue: number };
  type Attributes = Record<string, Attribute>;
  const value = (given: Attribute): object => {
    if (typeof given === 'object') return given;
    return typeof given === 'string' ? { stringValue: given } : { intValue: String(given) };
  };
  const span = (name: string, attributes: Attributes, index: number): object => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: String(index + 1).padStart(16, '0'),
    name,
    startTimeUnixNano: String(NOW + BigInt(index) * 1000n),
    endTimeUnixNano: String(NOW + BigInt(index) * 1000n + 500n),
    attributes: Object.entries(attributes).map(([key, given]) => ({ key, value: value(given) })),
  });

  async function imported(
    ...given: [name: string, attributes: Attributes][]
  ): Promise<{ calls: Seen[]; tokens: number }> {
    const spans = given.map(([name, attributes], index) => span(name, attributes, index));
    const file = join(place.folder, `${++count}.json`);
    writeFileSync(file, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
    const said = await importFile(file, runsFolder(join(place.folder, String(count)), place.state));
    const run = new RunFile(said.file);
    try {
      const json = (id: number | null): unknown =>
        id === null ? undefined : plainJson(run.values.root(id), run.values, 1e5).json;
      const calls = run.calls
        .ids()
        .flatMap((id) => [...run.calls.inChunk(id)])
        .map((call) => {
          const { call: row, messages, attributes } = callDetail(run, callName(call.id));
          return {
            kind: row.kind,
            name: row.name,
            input: json(call.args),
            output: json(call.result),
            messages: (messages ?? []).map(({ role, text }) => `${role}: ${text}`),
            attributes: Object.fromEntries(attributes.map((each) => [each.name, each.value])),
          };
        });
      return { calls, tokens: run.summary().tokens };
    } finally {
      run.close();
    }
  }
  const one = async (name: string, attributes: Attributes): Promise<Seen> =>
    (await imported([name, attributes])).calls[0]!;

  it('GenAI messages with parts, and the instructions before them', async () => {
    const call = await one('chat gpt-5', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.system_instructions': '[{"type": "text", "content": "be short"}]',
      'gen_ai.input.messages': JSON.stringify([
        {
          role: 'user',
          parts: [
            { type: 'text', content: 'hi' },
            { type: 'blob', content: 'AAAA' },
          ],
        },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: { rain: true } }] },
      ]),
      'gen_ai.output.messages': JSON.stringify([
        {
          role: 'assistant',
          parts: [
            { type: 'text', content: 'yo' },
            { type: 'tool_call', id: 'c', name: 'find', arguments: { q: 7 } },
          ],
          finish_reason: 'tool_call',
        },
      ]),
    });
    assert.deepEqual(call.messages, [
      'system: be short',
      'user: hi [blob]',
      "tool: {'rain': True}",
      'assistant: yo → find(q=7)',
    ]);
    assert.deepEqual(Object.keys(call.attributes).sort(), ['gen_ai.operation.name', 'gen_ai.request.model']);
  });

  it('OpenInference: kinds, messages, tokens, documents', async () => {
    const { calls, tokens } = await imported(
      [
        'ChatOpenAI',
        {
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'gpt-4o',
          'llm.input_messages.0.message.role': 'system',
          'llm.input_messages.0.message.content': 'be short',
          'llm.input_messages.10.message.role': 'user',
          'llm.input_messages.10.message.contents.0.message_content.type': 'text',
          'llm.input_messages.10.message.contents.0.message_content.text': 'last',
          'llm.input_messages.2.message.role': 'user',
          'llm.input_messages.2.message.content': 'hi',
          'llm.output_messages.0.message.role': 'assistant',
          'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c',
          'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'find',
          'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"q": 7}',
          'llm.token_count.prompt': 100,
          'llm.token_count.completion': 20,
          'llm.token_count.prompt_details.cache_read': 60,
          'input.value': '{"kwargs": {"content": "hi"}}',
          'output.value': 'find',
        },
      ],
      ['retrieve', { 'openinference.span.kind': 'RETRIEVER', 'retrieval.documents.0.document.content': 'doc' }],
      ['rerank', { 'openinference.span.kind': 'RERANKER' }],
      ['guard', { 'openinference.span.kind': 'GUARDRAIL' }],
      ['embed', { 'openinference.span.kind': 'EMBEDDING', 'embedding.model_name': 'ada' }],
      // A sum of what is below it.
      ['agent', { 'openinference.span.kind': 'AGENT', 'llm.token_count.prompt': 100 }],
    );
    assert.deepEqual(
      calls.map(({ kind, name }) => [kind, name]),
      [
        ['llm', 'gpt-4o'],
        ['tool', 'retrieve'],
        ['tool', 'rerank'],
        ['node', 'guard'],
        ['llm', 'ada'],
        ['workflow', 'agent'],
      ],
    );
    const [model, retrieval] = calls;
    assert.deepEqual(model!.messages, ['system: be short', 'user: hi', 'user: last', 'assistant: → find({"q": 7})']);
    assert.equal(tokens, 120);
    assert.equal(model!.attributes['gen_ai.usage.cache_read.input_tokens'], '60');
    assert.equal(model!.attributes['span.name'], 'ChatOpenAI');
    assert.equal(model!.attributes['input.value'], '{"kwargs": {"content": "hi"}}');
    assert.deepEqual(retrieval!.output, [{ content: 'doc' }]);
  });

  it('a value is JSON only where its MIME type does not say otherwise', async () => {
    const tool = { 'openinference.span.kind': 'TOOL' };
    const { calls } = await imported(
      [
        'text',
        {
          ...tool,
          'input.value': '{"q": 1}',
          'input.mime_type': 'text/plain',
          'output.value': '42',
          'output.mime_type': 'text/plain',
        },
      ],
      [
        'json',
        {
          ...tool,
          'input.value': '{"q": 1}',
          'input.mime_type': 'application/json',
          'output.value': '42',
          'output.mime_type': 'application/json',
        },
      ],
      ['unsaid', { ...tool, 'input.value': '{"q": 1}', 'output.value': '42' }],
    );
    assert.deepEqual(
      calls.map(({ input, output }) => [input, output]),
      [
        [{ input: '{"q": 1}' }, '42'],
        [{ q: 1 }, 42],
        [{ q: 1 }, '42'],
      ],
    );
  });

  it('messages of LangChain, as our own export has them', async () => {
    const messages = [
      { type: 'human', content: 'hi', name: null },
      { type: 'remove', content: '', id: '1' },
      { type: 'AIMessageChunk', content: 'yo', tool_calls: [{ name: 'find', args: { q: 7 } }] },
    ];
    const own = { 'toolbreak.kind': 'llm', 'toolbreak.arguments': JSON.stringify({ messages }) };
    assert.deepEqual((await one('chat x', own)).messages, ['human: hi', 'remove: message 1', 'ai: yo → find(q=7)']);
    const other = { ...own, 'toolbreak.arguments': '{"messages": [{"type": "text", "content": "hi"}]}' };
    assert.deepEqual((await one('chat x', other)).messages, []);
  });

  it('OpenLLMetry', async () => {
    const { calls, tokens } = await imported(
      [
        'agent.workflow',
        {
          'traceloop.span.kind': 'workflow',
          'traceloop.entity.name': 'agent',
          'traceloop.entity.input': '{"inputs": {"q": 1}}',
          'traceloop.entity.output': '{"outputs": 2}',
        },
      ],
      ['plan.task', { 'traceloop.span.kind': 'task', 'traceloop.entity.name': 'plan' }],
      ['find.tool', { 'traceloop.span.kind': 'tool', 'traceloop.entity.name': 'find' }],
      [
        'ChatOpenAI.chat',
        {
          'llm.request.type': 'chat',
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.prompt.0.role': 'user',
          'gen_ai.prompt.0.content': 'hi',
          'gen_ai.completion.0.role': 'assistant',
          'gen_ai.completion.0.tool_calls.0.name': 'find',
          'gen_ai.completion.0.tool_calls.0.arguments': '{"q": 7}',
          'gen_ai.usage.prompt_tokens': 7,
          'gen_ai.usage.completion_tokens': 3,
        },
      ],
    );
    assert.deepEqual(
      calls.map(({ kind, name }) => [kind, name]),
      [
        ['workflow', 'agent'],
        ['node', 'plan'],
        ['tool', 'find'],
        ['llm', 'gpt-4o'],
      ],
    );
    assert.deepEqual([calls[0]!.input, calls[0]!.output], [{ inputs: { q: 1 } }, { outputs: 2 }]);
    assert.deepEqual(calls[3]!.messages, ['user: hi', 'assistant: → find({"q": 7})']);
    assert.equal(tokens, 10);
  });

  it('what an agent used in all is not counted beside what its models used, and amounts may be floats', async () => {
    const usage = (input: number): Attributes => ({
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': 10,
    });
    const { calls, tokens } = await imported(
      ['invoke_agent shop', { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shop', ...usage(100) }],
      ['chat gpt-4o', { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o', ...usage(100) }],
      ['LLM', { 'openinference.span.kind': 'LLM', 'llm.token_count.prompt': { doubleValue: 12 } }],
    );
    assert.deepEqual(
      calls.map(({ kind }) => kind),
      ['workflow', 'llm', 'llm'],
    );
    assert.equal(tokens, 122);
  });

  it('Langfuse', async () => {
    const { calls, tokens } = await imported(
      [
        'trace',
        {
          'langfuse.observation.type': 'agent',
          'langfuse.observation.input': '{"q": 1}',
          'langfuse.observation.output': '42',
        },
      ],
      [
        'gen',
        {
          'langfuse.observation.type': 'generation',
          'langfuse.observation.model.name': 'gpt-4o',
          'langfuse.observation.input': '[{"role": "user", "content": "hi"}]',
          'langfuse.observation.output': '{"role": "assistant", "content": "yo"}',
          'langfuse.observation.usage_details': '{"input": 5, "output": 6}',
        },
      ],
    );
    assert.deepEqual([calls[0]!.kind, calls[0]!.input, calls[0]!.output], ['workflow', { q: 1 }, '42']);
    assert.deepEqual([calls[1]!.kind, calls[1]!.name, tokens], ['llm', 'gpt-4o', 11]);
    assert.deepEqual(calls[1]!.messages, ['user: hi', 'assistant: yo']);
  });

  it("Vercel's AI SDK", async () => {
    const { calls } = await imported(
      [
        'ai.generateText',
        { 'ai.operationId': 'ai.generateText', 'ai.prompt': '{"prompt": "hi"}', 'ai.response.text': '7' },
      ],
      [
        'ai.generateText.doGenerate',
        {
          'ai.operationId': 'ai.generateText.doGenerate',
          'gen_ai.request.model': 'gpt-4o',
          'ai.prompt.messages': '[{"role": "user", "content": [{"type": "text", "text": "hi"}]}]',
          'ai.response.text': 'yo',
          'ai.response.toolCalls': '[{"toolCallId": "c", "toolName": "find", "args": "{\\"q\\": 7}"}]',
        },
      ],
      [
        'ai.toolCall',
        {
          'ai.operationId': 'ai.toolCall',
          'ai.toolCall.name': 'find',
          'ai.toolCall.args': '{"q": 7}',
          'ai.toolCall.result': '"r"',
        },
      ],
    );
    assert.deepEqual(
      calls.map(({ kind, name }) => [kind, name]),
      [
        ['workflow', 'ai.generateText'],
        ['llm', 'gpt-4o'],
        ['tool', 'find'],
      ],
    );
    assert.deepEqual([calls[0]!.input, calls[0]!.output], [{ prompt: 'hi' }, '7']);
    assert.deepEqual(calls[1]!.messages, ['user: hi', 'assistant: yo → find(q=7)']);
    assert.deepEqual([calls[2]!.input, calls[2]!.output], [{ q: 7 }, 'r']);
  });

  it('names with numbers that fit nowhere stay attributes', async () => {
    const odd = {
      'gen_ai.prompt.0': 'leaf',
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.x.role': 'user',
      'gen_ai.prompt.99999999999.role': 'user',
      [`gen_ai.prompt.1${'.a'.repeat(20)}`]: 'deep',
    };
    const call = await one('odd', { 'llm.request.type': 'chat', ...odd, 'gen_ai.prompt.2.__proto__.role': 'user' });
    assert.equal(JSON.stringify(call.input), '{"messages":["leaf",{"__proto__":{"role":"user"}}]}');
    assert.deepEqual(Object.keys(call.attributes).sort(), [...Object.keys(odd).slice(1), 'llm.request.type'].sort());
  });

  it('tells a result that is nothing from one that the span does not say', async () => {
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'add' };
    const { calls } = await imported(['said', { ...tool, 'gen_ai.tool.call.result': 'null' }], ['not said', tool]);
    assert.deepEqual(
      calls.map(({ output }) => output),
      [null, undefined],
    );
  });
});
