/**
 * Writes what is derived from `protocol/*.ts`, and nothing else:
 *   protocol/generated/{launch,control,query}.schema.json                           validation
 *   runtimes/python/toolbreak/_protocol.py                                          types and constants for Python
 *   runtimes/python/toolbreak/_secrets.py, runtimes/node/secrets.mjs                what is masked
 *   docs/launch.md                                                                  reference of launch.json
 *   package.json                                                                    manifest parts
 * `--check` compares instead of writing and exits with 1 when something is stale.
 */
import { readFileSync, writeFileSync, mkdirSync, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';
import { format, resolveConfig } from 'prettier';
import { launchReference, manifestAttributes } from './generate-launch';
import { pythonTypes } from './generate-python';
import { nodeSecrets, pythonSecrets } from './generate-secrets';

const root = join(__dirname, '..');
const check = process.argv.includes('--check');

export type Schema = Record<string, unknown> & {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  definitions?: Record<string, Schema>;
};

function schemaOf(file: string, type: string): Schema {
  const generator = createGenerator({
    path: join(root, 'protocol', file),
    tsconfig: join(root, 'tsconfig.json'),
    type,
    skipTypeCheck: true,
    expose: 'all',
    topRef: false,
  });
  return generator.createSchema(type) as Schema;
}

async function pretty(text: string, parser: 'json' | 'json-stringify' | 'markdown' | 'babel'): Promise<string> {
  const config = await resolveConfig(join(root, 'package.json'));
  return format(text, { ...config, parser });
}

const stale: string[] = [];
function emit(path: string, text: string): void {
  const full = join(root, path);
  if (existsSync(full) && readFileSync(full, 'utf8') === text) return;
  if (check) {
    stale.push(relative(root, full));
    return;
  }
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

async function main(): Promise<void> {
  const launch = schemaOf('launch.ts', 'LaunchAttributes');
  const attach = schemaOf('launch.ts', 'AttachAttributes');
  const control = schemaOf('control.ts', '*');
  emit('protocol/generated/launch.schema.json', await pretty(JSON.stringify({ launch, attach }), 'json'));
  emit('protocol/generated/control.schema.json', await pretty(JSON.stringify(control), 'json'));
  emit('protocol/generated/query.schema.json', await pretty(JSON.stringify(schemaOf('query.ts', 'Query')), 'json'));
  emit(
    'runtimes/python/toolbreak/_protocol.py',
    pythonTypes(control, readFileSync(join(root, 'protocol/control.ts'), 'utf8')),
  );
  emit('runtimes/python/toolbreak/_secrets.py', pythonSecrets());
  emit('runtimes/node/secrets.mjs', await pretty(nodeSecrets(), 'babel'));
  emit('docs/launch.md', await pretty(launchReference(launch, attach), 'markdown'));

  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const partsFile = join(root, 'build/manifest.json');
  if (existsSync(partsFile)) {
    const parts = JSON.parse(readFileSync(partsFile, 'utf8')) as Record<string, unknown>;
    Object.assign(manifest, parts, { contributes: withAttributes(parts.contributes as Contributes, launch, attach) });
  }
  emit('package.json', await pretty(JSON.stringify(manifest), 'json-stringify'));

  if (stale.length > 0) {
    console.error(`Generated files are stale: ${stale.join(', ')}. Run "npm run generate" and commit the result.`);
    process.exitCode = 1;
  }
}

interface Contributes {
  debuggers?: Record<string, unknown>[];
}
function withAttributes(contributes: Contributes, launch: Schema, attach: Schema): unknown {
  return {
    ...contributes,
    debuggers: contributes.debuggers?.map((each) => ({
      ...each,
      configurationAttributes: { launch: manifestAttributes(launch), attach: manifestAttributes(attach) },
    })),
  };
}

void main();
