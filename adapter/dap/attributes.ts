import type { ErrorObject } from 'ajv';
import * as checks from '../../protocol/generated/launch.check.cjs';
import schemas from '../../protocol/generated/launch.schema.json';
import type { RecordSettings } from '../../protocol/control';
import type { AttachAttributes, LaunchAttributes, RecordAttribute } from '../../protocol/launch';
import { UserError } from '../common/errors';
import type { EngineSettings } from '../engine/engine';

interface Attributes {
  launch: LaunchAttributes;
  attach: AttachAttributes;
}

/** Attributes every editor may put beside ours. */
const EDITORS_OWN = [
  'type', 'name', 'request', 'noDebug', 'presentation', 'preLaunchTask', 'postDebugTask', 'internalConsoleOptions', 'debugServer',
  'serverReadyAction', 'suppressMultipleSessionView', 'suppressDebugStatusbar', 'suppressDebugToolbar', 'suppressDebugView',
  'suppressSaveBeforeStart', 'windows', 'linux', 'osx',
]; // prettier-ignore

/**
 * Checks launch and attach attributes against the schema that is generated from `protocol/launch.ts`: those that are ours, and the names of
 * those nobody knows.
 * @throws UserError that names the first attribute that is wrong
 */
export function checkAttributes<M extends 'launch' | 'attach'>(
  mode: M,
  args: object,
): { attributes: Attributes[M]; unknown: string[] } {
  const known = new Set([...Object.keys(schemas[mode].properties), ...(mode === 'launch' ? ['noDebug'] : [])]);
  const given = Object.entries(args).filter(([name, value]) => !name.startsWith('__') && value !== undefined);
  const ours = Object.fromEntries(given.filter(([name]) => known.has(name)));
  const unknown = given.map(([name]) => name).filter((name) => !known.has(name) && !EDITORS_OWN.includes(name));
  const check = checks[mode];
  if (!check(ours)) {
    throw new UserError(sentenceFor(mode, check.errors ?? []));
  }
  return { attributes: ours, unknown };
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** `"hold" must be one of: task, all.` */
function sentenceFor(mode: 'launch' | 'attach', errors: readonly ErrorObject[]): string {
  // Inside a choice of types, the deepest error says most; of an object, where one alternative is one, what is wrong in it.
  const foreign = (e: ErrorObject): boolean =>
    e.keyword === 'additionalProperties' &&
    errors.filter((one) => one.keyword === e.keyword && one.instancePath === e.instancePath).length === 1;
  const error =
    [...errors]
      .filter((e) => e.keyword !== 'anyOf')
      .sort((a, b) => b.instancePath.length - a.instancePath.length || Number(foreign(b)) - Number(foreign(a)))[0] ??
    errors[0];
  if (!error) {
    return 'The debug configuration cannot be read.';
  }
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = path.reduce(
    (text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
  const choice = errors.find((e) => e.keyword === 'anyOf' && e.instancePath === error.instancePath);
  if (choice && error.keyword !== 'additionalProperties') return `"${name}" must be ${choicesOf(shapeAt(mode, path))}.`;
  const params = error.params as {
    allowedValues?: unknown[];
    type?: string | string[];
    additionalProperty?: string;
    missingProperty?: string;
    limit?: number;
  };
  const where = 'in the debug configuration';
  switch (error.keyword) {
    case 'enum':
      return `"${name}" must be one of: ${(params.allowedValues ?? []).join(', ')}.`;
    case 'additionalProperties':
      return `"${name ? `${name}.` : ''}${params.additionalProperty ?? ''}" is not an attribute ${where}. Remove it.`;
    case 'type': {
      const types = errors
        .filter((e) => e.keyword === 'type' && e.instancePath === error.instancePath)
        .flatMap((e) => (e.params as { type: string | string[] }).type);
      return `"${name}" must be ${[...new Set(types)].map((type) => TYPES[type] ?? type).join(' or ')}.`;
    }
    case 'minimum':
      return `"${name}" must be at least ${params.limit ?? 0}.`;
    case 'required':
      return `"${name ? `${name}.` : ''}${params.missingProperty ?? ''}" is missing ${where}.`;
    default:
      return `"${name}" must be ${choicesOf(shapeAt(mode, path))}.`;
  }
}

interface Shape {
  additionalProperties?: Shape | boolean;
  items?: Shape;
  anyOf?: Shape[];
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  properties?: Record<string, Shape>;
  /** Another one of the schema: each of ours is an object. */
  $ref?: string;
}

/** What the schema says of a value of the configuration. */
function shapeAt(mode: 'launch' | 'attach', path: readonly string[]): Shape | undefined {
  const whole = schemas[mode] as Shape & { definitions: Record<string, Shape> };
  return path.reduce<Shape | undefined>((shape, part) => {
    const more = typeof shape?.additionalProperties === 'object' ? shape.additionalProperties : shape?.items;
    const found = shape?.properties?.[part] ?? more;
    return found?.$ref === undefined ? found : whole.definitions[found.$ref.replace('#/definitions/', '')];
  }, whole);
}

/** `"console", "none", { "file": a text } or { "text": a text }` */
function choicesOf(shape: Shape | undefined): string {
  const choices = (shape?.anyOf ?? [shape ?? {}]).map(shapeText);
  return [choices.slice(0, -1).join(', '), choices.at(-1)].filter((text) => text !== '').join(' or ');
}

function shapeText({ const: only, enum: several, type, properties = {}, $ref }: Shape): string {
  if ($ref !== undefined) return 'an object';
  if (only !== undefined) return JSON.stringify(only);
  if (several) return `one of: ${several.join(', ')}`;
  const parts = Object.entries(properties);
  if (type === 'object' && parts.length === 1)
    return `{ ${parts.map(([name, part]) => `"${name}": ${shapeText(part)}`).join(', ')} }`;
  return (
    [type ?? []]
      .flat()
      .map((one) => TYPES[one] ?? one)
      .join(' or ') || 'something else'
  );
}

export const EVALUATION_SECONDS = 10;

export function recordSettings(record: boolean | RecordAttribute | undefined): RecordSettings {
  const given = typeof record === 'object' ? record : {};
  return {
    enabled: typeof record === 'boolean' ? record : (given.enabled ?? true),
    functions: given.functions ?? [],
    maxValueBytes: given.maxValueBytes ?? 1048576,
    maxDepth: given.maxDepth ?? 100,
    maskKeys: given.maskKeys ?? [],
    maskPatterns: given.maskPatterns ?? [],
    references: true,
  };
}

export function engineSettings(attributes: LaunchAttributes & AttachAttributes): EngineSettings {
  return {
    hold: attributes.hold ?? 'task',
    stopOnEntry: attributes.stopOnEntry ?? false,
    justMyCode: attributes.justMyCode ?? true,
    record: recordSettings(attributes.record),
    evaluationSeconds: EVALUATION_SECONDS,
  };
}
