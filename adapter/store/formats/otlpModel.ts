import { content } from '../reader/children';
import { field, textField } from '../reader/messageBlocks';
import type { StoredValues } from '../reader/stored';
import { Dict, Tagged, Tuple, type Value } from '../values/model';

/** Providers by LangChain's names for them, where the conventions have another. */
const PROVIDERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
);
/** The same by the class of a model, where it does not say so itself. */
const CLASSES: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
);
const DEEPEST = 5;

/** Whose model it is, in the words of the conventions; nothing where neither its answer nor its class says so. */
export function providerOf(
  call: { qualified: string | null; name: string },
  result: Value,
  stored: StoredValues,
): string | undefined {
  const metadata = field(answerIn(result, stored, 0), 'response_metadata', stored);
  const provider = metadata === undefined ? undefined : textField(metadata, 'model_provider', stored);
  if (provider !== undefined) return PROVIDERS.get(provider) ?? provider;
  const own = classOf(call);
  return own === undefined ? undefined : CLASSES.get(own);
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
