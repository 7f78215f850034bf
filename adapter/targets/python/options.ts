import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LaunchAttributes } from '../../../protocol/launch';
import { folderNotFound, programNotFound, programOrModule, wrongType } from '../../common/errors';
import { mergeVariables, readEnvFile, type Variables } from './environment';

/** A launch as checked: what to run, where, and with which changes of the environment. */
export interface Launch {
  program?: string;
  module?: string;
  args: string[];
  cwd: string;
  variables: Variables;
  python?: string;
  console: 'internalConsole' | 'integratedTerminal';
  noDebug: boolean;
  subProcess: boolean;
}

/** Checks the attributes, reads the env file. Throws a sentence for the first thing that is wrong. */
export function readLaunch(attributes: LaunchAttributes): Launch {
  const given = attributes as Record<string, unknown>;
  const program = text(given, 'program');
  const module = text(given, 'module');
  if ((program === undefined) === (module === undefined)) throw programOrModule(program !== undefined);

  const folder = text(given, 'cwd');
  const cwd = resolve(folder ?? '.');
  if (!isDirectory(cwd)) throw folderNotFound(folder ?? cwd);
  const programPath = program === undefined ? undefined : resolve(cwd, program);
  if (programPath !== undefined && !existsSync(programPath)) throw programNotFound(program ?? programPath);

  const envFile = text(given, 'envFile');
  const fromFile = envFile === undefined ? undefined : readEnvFile(resolve(cwd, envFile));
  const console = given['console'] ?? 'internalConsole';
  if (console !== 'internalConsole' && console !== 'integratedTerminal') {
    throw wrongType('console', '"internalConsole" or "integratedTerminal"');
  }
  const python = text(given, 'python') ?? text(given, 'runtimeExecutable');
  return {
    ...(programPath !== undefined && { program: programPath }),
    ...(module !== undefined && { module }),
    args: texts(given, 'args'),
    cwd,
    variables: mergeVariables(fromFile, variables(given)),
    ...(python !== undefined && { python }),
    console,
    noDebug: flag(given, 'noDebug', false),
    subProcess: flag(given, 'subProcess', true),
  };
}

/** What a person calls the app. */
export function launchName(launch: Launch): string {
  return launch.module ?? (launch.program ?? '').split(/[\\/]/).pop() ?? 'app';
}

function text(given: Record<string, unknown>, name: string): string | undefined {
  const value = given[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw wrongType(name, 'a text');
  return value;
}

function texts(given: Record<string, unknown>, name: string): string[] {
  const value = given[name] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw wrongType(name, 'a list of texts, such as ["--verbose", "3"]');
  }
  return value;
}

function flag(given: Record<string, unknown>, name: string, otherwise: boolean): boolean {
  const value = given[name] ?? otherwise;
  if (typeof value !== 'boolean') throw wrongType(name, 'true or false');
  return value;
}

function variables(given: Record<string, unknown>): Variables {
  const value = given['env'] ?? {};
  const fine =
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => item === null || typeof item === 'string');
  if (!fine) throw wrongType('env', 'an object of texts, such as {"NAME": "value"}; null removes a variable');
  return value as Variables;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
