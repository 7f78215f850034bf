import { content } from '../reader/children';
import { field } from '../reader/messageBlocks';
import type { StoredValues } from '../reader/stored';
import { Dict, Tagged, Tuple, type Value } from '../values/model';

/** Providers by LangChain's names for them, where the conventions have another. */
const PROVIDERS: Record<string, string> = {
  google_genai: 'gcp.gemini',
  google_vertexai: 'gcp.vertex_ai',
  google_anthropic_vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  bedrock_converse: 'aws.bedrock',
  azure_openai: 'azure.ai.openai',
  azure_ai: 'azure.ai.inference',
  mistralai: 'mistral_ai',
  xai: 'x_ai',
  ibm: 'ibm.watsonx.ai',
};
/** The same by the class of a model, where it does not say so itself. */
const CLASSES: Record<string, string> = {
  ChatOpenAI: 'openai',
  AzureChatOpenAI: 'azure.ai.openai',
  ChatAnthropic: 'anthropic',
  ChatGoogleGenerativeAI: 'gcp.gemini',
  ChatVertexAI: 'gcp.vertex_ai',
  ChatBedrock: 'aws.bedrock',
  ChatBedrockConverse: 'aws.bedrock',
  ChatCohere: 'cohere',
  ChatDeepSeek: 'deepseek',
  ChatGroq: 'groq',
  ChatMistralAI: 'mistral_ai',
  ChatPerplexity: 'perplexity',
  ChatWatsonx: 'ibm.watsonx.ai',
  ChatXAI: 'x_ai',
};
const DEEPEST = 5;

/** What a model's answer says of where it is from, and of its tokens, in the words of the conventions. */
export function modelAttributes(
  call: { qualified: string | null; name: string },
  result: Value,
  stored: StoredValues,
): Map<string, string | number> {
  const all = new Map<string, string | number>();
  const answer = answerIn(result, stored, 0);
  const at = (...path: string[]): Value =>
    path.reduce((value: Value, name) => (value === null ? null : (field(value, name, stored) ?? null)), answer);
  const provider = at('response_metadata', 'model_provider');
  const known =
    typeof provider === 'string' && provider !== ''
      ? own(PROVIDERS, provider, provider)
      : own(CLASSES, classOf(call) ?? '', undefined);
  if (known !== undefined) all.set('gen_ai.provider.name', known);
  for (const [name, path] of [
    ['gen_ai.usage.cache_read.input_tokens', ['input_token_details', 'cache_read']],
    ['gen_ai.usage.cache_creation.input_tokens', ['input_token_details', 'cache_creation']],
    ['gen_ai.usage.reasoning.output_tokens', ['output_token_details', 'reasoning']],
  ] as const) {
    const count = at('usage_metadata', ...path);
    if (typeof count === 'number') all.set(name, count);
  }
  return all;
}

function own<T>(table: Record<string, string>, name: string, otherwise: T): string | T {
  return Object.hasOwn(table, name) ? table[name]! : otherwise;
}

/** `ChatOpenAI.gpt-4o` is no function: it is a class, and the model that it stands for. */
export function classOf({ qualified, name }: { qualified: string | null; name: string }): string | undefined {
  if (qualified === null || /^[\p{L}_$][\p{L}\d_$]*$/u.test(name) || !qualified.endsWith(`.${name}`)) return undefined;
  return qualified.slice(0, -name.length - 1);
}

/** The message of an answer, which may be one of several, or of several generations. */
function answerIn(value: Value, stored: StoredValues, level: number): Value {
  const plain = content(value, stored);
  if (level > DEEPEST) return null;
  if (Array.isArray(plain) || plain instanceof Tuple)
    return answerIn((plain instanceof Tuple ? plain.items : plain)[0] ?? null, stored, level + 1);
  if (!(plain instanceof Dict || plain instanceof Tagged)) return null;
  for (const name of ['generations', 'message']) {
    const inner = field(plain, name, stored);
    if (inner !== undefined) return answerIn(inner, stored, level + 1);
  }
  return plain;
}
