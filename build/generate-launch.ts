import type { Schema } from './generate';

/** Replaces references by what they name, and drops what package.json does not know. */
export function inline(schema: Schema, definitions: Record<string, Schema>): Schema {
  if (schema.$ref) {
    const name = decodeURIComponent(schema.$ref.replace('#/definitions/', ''));
    const target = definitions[name];
    if (!target) throw new Error(`No definition of ${name}.`);
    const { $ref: _dropped, ...rest } = schema;
    return inline({ ...target, ...rest }, definitions);
  }
  const result: Schema = { ...schema };
  delete result.definitions;
  delete result.$schema;
  if (schema.anyOf) result.anyOf = schema.anyOf.map((each) => inline(each, definitions));
  if (schema.items) result.items = inline(schema.items, definitions);
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, each]) => [key, inline(each, definitions)]),
    );
  }
  return result;
}

export function manifestAttributes(schema: Schema): Schema {
  const { properties, required } = inline(schema, schema.definitions ?? {});
  return required && required.length > 0 ? { required, properties } : { properties };
}

function typeText(schema: Schema): string {
  if (schema.enum) return schema.enum.map((each) => `\`${JSON.stringify(each)}\``).join(' or ');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? typeText(schema.items) : 'values'}`;
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'value');
}

function rows(properties: Record<string, Schema>, prefix = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const fallback = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
    const nested = schema.anyOf?.find((each) => each.properties)?.properties ?? schema.properties ?? {};
    const text = (schema.description ?? '').replace(/\s+/g, ' ').replace(/\|/g, '\\|');
    return [
      `| \`${prefix}${name}\` | ${typeText(schema)} | ${fallback} | ${text} |`,
      ...rows(nested, `${prefix}${name}.`),
    ];
  });
}

/** The reference page of launch.json. */
export function launchReference(launch: Schema, attach: Schema): string {
  const table = (schema: Schema) =>
    [
      '| attribute | type | default | meaning |',
      '|---|---|---|---|',
      ...rows(manifestAttributes(schema).properties ?? {}),
    ].join('\n');
  return [
    '# launch.json',
    '',
    'Debug type `toolbreak`. Generated from `protocol/launch.ts`.',
    '',
    '## "request": "launch"',
    '',
    table(launch),
    '',
    '## "request": "attach"',
    '',
    table(attach),
    '',
  ].join('\n');
}
