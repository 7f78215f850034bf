import type { Schema } from './generate';

const refName = (ref: string) => decodeURIComponent(ref.replace('#/definitions/', ''));
/** Types that Python never sees: tables of requests, and instances of generics. */
const usable = (name: string) => /^[A-Za-z]+$/.test(name) && name !== 'ControlRequests' && name !== 'CallName';

function pythonType(schema: Schema): string {
  if (schema.$ref) return `'${refName(schema.$ref)}'`;
  if (schema.const !== undefined) return literal([schema.const]);
  if (schema.enum) return literal(schema.enum);
  if (schema.anyOf) return unionOf(schema.anyOf.map(pythonType));
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => pythonType({ type })));
  switch (schema.type) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
    case 'null':
      return 'None';
    case 'array':
      return `List[${schema.items ? pythonType(schema.items) : 'Any'}]`;
    case 'object':
      return 'Dict[str, Any]';
    default:
      return 'Any';
  }
}
const unionOf = (types: string[]) => (types.length === 1 ? types[0]! : `Union[${types.join(', ')}]`);
const literal = (values: unknown[]) =>
  `Literal[${values.map((each) => (typeof each === 'string' ? `'${each}'` : each === true ? 'True' : String(each))).join(', ')}]`;

function typedDict(name: string, schema: Schema): string {
  const required = new Set(schema.required ?? []);
  // The functional form, since a key may be a Python keyword. Every number on this door is an integer but for seconds.
  const fields = Object.entries(schema.properties ?? {}).map(([key, each]) => {
    const type = pythonType(each).replace(/\bfloat\b/g, /[sS]econds$/.test(key) ? 'float' : 'int');
    return `        '${key}': ${required.has(key) ? type : `'NotRequired[${type.replaceAll("'", '')}]'`},`;
  });
  return [
    `    ${name} = TypedDict(`,
    `        '${name}',`,
    `        {`,
    ...fields.map((each) => `    ${each}`),
    `        },`,
    `    )`,
  ].join('\n');
}

/** `_protocol.py`: constants, and TypedDicts for type checkers only. */
export function pythonTypes(control: Schema, source: string): string {
  const version = /PROTOCOL_VERSION = (\d+)/.exec(source)?.[1];
  if (!version) throw new Error('PROTOCOL_VERSION not found in protocol/control.ts.');
  const definitions = Object.entries(control.definitions ?? {}).filter(([name]) => usable(name));
  const aliases: string[] = [];
  const dicts: string[] = [];
  for (const [name, schema] of definitions) {
    if (schema.type === 'object') dicts.push(typedDict(name, schema));
    else if (schema.enum || schema.const) aliases.push(`    ${name} = ${pythonType(schema)}`);
    else if (schema.anyOf) dicts.push(`    ${name} = ${pythonType(schema)}`);
  }
  return [
    '"""Messages of the control socket. Generated from protocol/control.ts; do not edit."""',
    '',
    '# fmt: off',
    '# ruff: noqa',
    'from __future__ import annotations',
    '',
    'TYPE_CHECKING = False',
    '',
    `PROTOCOL_VERSION = ${version}`,
    '',
    'if TYPE_CHECKING:',
    '    from typing import Any, Dict, List, Literal, TypedDict, Union',
    '',
    '    from typing_extensions import NotRequired',
    '',
    ...aliases,
    '',
    ...dicts.flatMap((each) => [each, '']),
  ].join('\n');
}
