import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookInto } from '../../adapter/targets/mixed/elf';
import { someSource } from '../../adapter/targets/mixed/lineTable';
import { isOwnSource } from '../../adapter/targets/mixed/own';
import { prices } from './native-mixed-support';

describe('Whether a library was built here', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolbreak-own-'));
    mkdirSync(join(folder, 'source'));
    copyFileSync(prices, join(folder, 'source', 'prices.c'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const compile = (flags: string[], source: string): string => {
    const library = join(folder, 'made.so');
    const done = spawnSync(process.env['CC'] ?? 'gcc', ['-g', '-shared', '-fPIC', source, '-o', library, ...flags], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(done.status, 0, done.stderr);
    return library;
  };
  const sources = (library: string): string[] => {
    const found: string[] = [];
    lookInto(library, (sections, read) => someSource(library, sections, read, (path) => (found.push(path), false)));
    return found.filter(isOwnSource);
  };

  for (const version of [2, 3, 4, 5]) {
    for (const name of ['whole', 'relative']) {
      it(`DWARF ${version}, ${name} path`, () => {
        const source = join('source', 'prices.c');
        const given = name === 'whole' ? join(folder, source) : source;
        assert.deepEqual(sources(compile([`-gdwarf-${version}`], given)), [join(folder, source)]);
      });
    }
  }

  it('wide tables are read as well', () => {
    assert.deepEqual(sources(compile(['-gdwarf64'], 'source/prices.c')), [join(folder, 'source', 'prices.c')]);
  });

  it('not where there is no debug information, or no source any more', () => {
    assert.deepEqual(sources(compile(['-g0'], 'source/prices.c')), []);
    const library = compile([], 'source/prices.c');
    rmSync(join(folder, 'source'), { recursive: true });
    assert.deepEqual(sources(library), []);
    assert.deepEqual(sources(prices), []);
    assert.deepEqual(sources(join(folder, 'nothing')), []);
  });

  it('what the system or an installed package brought is no source of anybody here', () => {
    assert.equal(isOwnSource(prices), true);
    assert.equal(isOwnSource('/usr/include/stdio.h'), false);
    assert.equal(isOwnSource('prices.c'), false);
    assert.equal(isOwnSource(undefined), false);
    mkdirSync(join(folder, 'site-packages'));
    const installed = join(folder, 'site-packages', 'prices.c');
    copyFileSync(prices, installed);
    assert.equal(isOwnSource(installed), false);
  });
});
