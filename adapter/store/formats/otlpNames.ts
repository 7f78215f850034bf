import { numberIn, type Told } from './marshalWriter';
import { fromText } from './otlpValue';

/** How a value stands in an attribute. `some`: as JSON where it is an object or a list, else as the text that it is. */
export type Form = 'json' | 'text' | 'some' | 'typed';
export type Place = readonly [name: string, form: Form];

/** Where producers keep what a call was given; the first that is there counts. Beside one that is `typed` stands its MIME type. */
export const INPUTS: readonly Place[] = [
  ['toolbreak.arguments', 'json'],
  ['gen_ai.tool.call.arguments', 'json'],
  ['input.value', 'typed'],
  ['traceloop.entity.input', 'json'],
  ['langfuse.observation.input', 'some'],
  ['ai.toolCall.args', 'json'],
  ['tool_arguments', 'json'],
  ['ai.prompt', 'some'],
];
/** The same of what it answered. */
export const OUTPUTS: readonly Place[] = [
  ['toolbreak.result', 'json'],
  ['gen_ai.tool.call.result', 'json'],
  ['output.value', 'typed'],
  ['traceloop.entity.output', 'json'],
  ['langfuse.observation.output', 'some'],
  ['ai.toolCall.result', 'json'],
  ['tool_response', 'some'],
  ['ai.response.object', 'json'],
  ['ai.response.text', 'text'],
];

/** What a call is named by, by its kind. */
export const NAMES: Record<string, readonly string[]> = {
  tool: ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'traceloop.entity.name'],
  llm: [
    'gen_ai.request.model',
    'llm.model_name',
    'embedding.model_name',
    'langfuse.observation.model.name',
    'ai.model.id',
  ],
  workflow: ['gen_ai.workflow.name', 'gen_ai.agent.name', 'agent.name', 'traceloop.entity.name'],
  node: ['traceloop.entity.name'],
};

/** Our kinds by what the attributes of others say. */
const KINDS: readonly (readonly [name: string, kinds: Record<string, string>])[] = [
  [
    'toolbreak.kind',
    {
      workflow: 'workflow',
      node: 'node',
      tool: 'tool',
      llm: 'llm',
      http: 'http',
      function: 'function',
      native: 'native',
    },
  ],
  [
    'gen_ai.operation.name',
    {
      chat: 'llm',
      text_completion: 'llm',
      generate_content: 'llm',
      embeddings: 'llm',
      execute_tool: 'tool',
      retrieval: 'tool',
      invoke_agent: 'workflow',
      create_agent: 'workflow',
      invoke_workflow: 'workflow',
    },
  ],
  [
    'openinference.span.kind',
    {
      LLM: 'llm',
      EMBEDDING: 'llm',
      TOOL: 'tool',
      RETRIEVER: 'tool',
      RERANKER: 'tool',
      AGENT: 'workflow',
      CHAIN: 'node',
      GUARDRAIL: 'node',
      EVALUATOR: 'node',
    },
  ],
  ['traceloop.span.kind', { workflow: 'workflow', agent: 'workflow', task: 'node', tool: 'tool' }],
  [
    'langfuse.observation.type',
    {
      generation: 'llm',
      embedding: 'llm',
      tool: 'tool',
      retriever: 'tool',
      agent: 'workflow',
      chain: 'node',
      guardrail: 'node',
      evaluator: 'node',
    },
  ],
  [
    'ai.operationId',
    {
      'ai.generateText': 'workflow',
      'ai.streamText': 'workflow',
      'ai.generateObject': 'workflow',
      'ai.streamObject': 'workflow',
      'ai.generateText.doGenerate': 'llm',
      'ai.streamText.doStream': 'llm',
      'ai.generateObject.doGenerate': 'llm',
      'ai.streamObject.doStream': 'llm',
      'ai.embed.doEmbed': 'llm',
      'ai.embedMany.doEmbed': 'llm',
      'ai.toolCall': 'tool',
    },
  ],
  ['llm.request.type', { chat: 'llm', completion: 'llm', embedding: 'llm', rerank: 'tool' }],
];
/** What only calls of a kind have. */
const SIGNS: readonly (readonly [name: string, kind: string])[] = [
  ['gen_ai.tool.name', 'tool'],
  ['gen_ai.request.model', 'llm'],
  ['http.request.method', 'http'],
  ['http.method', 'http'],
];

export function kindOf(all: ReadonlyMap<string, Told>): string {
  for (const [name, kinds] of KINDS) {
    const said = all.get(name);
    if (typeof said === 'string' && Object.hasOwn(kinds, said)) return kinds[said]!;
  }
  return SIGNS.find(([name]) => all.has(name))?.[1] ?? 'function';
}

/** How others call what has a name in the GenAI conventions. */
const USAGE: readonly (readonly [name: string, others: readonly string[]])[] = [
  [
    'gen_ai.usage.input_tokens',
    ['llm.token_count.prompt', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens', 'ai.usage.promptTokens'],
  ],
  [
    'gen_ai.usage.output_tokens',
    [
      'llm.token_count.completion',
      'gen_ai.usage.completion_tokens',
      'llm.usage.completion_tokens',
      'ai.usage.completionTokens',
    ],
  ],
  ['gen_ai.usage.cache_read.input_tokens', ['llm.token_count.prompt_details.cache_read']],
  ['gen_ai.usage.reasoning.output_tokens', ['llm.token_count.completion_details.reasoning']],
];

/** The tokens of a model call under the names by which they are counted. */
export function nameUsage(all: Map<string, Told>): void {
  for (const [name, others] of USAGE) {
    const other = all.has(name) ? undefined : others.find((each) => numberIn(all.get(each)) !== undefined);
    if (other === undefined) continue;
    all.set(name, numberIn(all.get(other))!);
    all.delete(other);
  }
  const details = fromText(all.get('langfuse.observation.usage_details'));
  if (typeof details !== 'object' || details === null) return;
  for (const way of ['input', 'output'] as const) {
    const count = numberIn((details as Record<string, Told>)[way]);
    const name = `gen_ai.usage.${way}_tokens`;
    if (count !== undefined && !all.has(name)) all.set(name, count);
  }
}
