import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseObject } from './ndjson';

/** Where this Toolbreak is installed: the folder of its package.json, both when it runs from `dist/` and from its sources. */
export function installationFolder(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'runtimes', 'python', 'toolbreak')) && existsSync(join(folder, 'package.json')))
      return folder;
    if (dirname(folder) === folder) return dirname(__dirname);
  }
}

/** Folder that holds the Python package `toolbreak`. */
export function pythonRuntimeFolder(): string {
  return join(installationFolder(), 'runtimes', 'python');
}

/** Folder that is put in front of PYTHONPATH; its `sitecustomize` loads the runtime. */
export function pythonBootFolder(): string {
  return join(pythonRuntimeFolder(), 'toolbreak', 'boot');
}

export function toolbreakVersion(): string {
  try {
    const version = parseObject(readFileSync(join(installationFolder(), 'package.json'), 'utf8'))?.['version'];
    return typeof version === 'string' ? version : '0.0.0';
  } catch {
    return '0.0.0';
  }
}
