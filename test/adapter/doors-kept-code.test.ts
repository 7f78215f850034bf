import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forgetOldCode } from '../../adapter/doors/keptCode';
import { toolbreakCommand } from '../support/adapter';
import { Place } from './target-support';

describe('Our code, kept as the machine understands it', () => {
  let place: Place;
  beforeEach(() => (place = new Place()));
  afterEach(() => place.remove());
  const state = (): string => join(place.folder, 'state', 'toolbreak');
  const run = (XDG_STATE_HOME: string): string => {
    const env: NodeJS.ProcessEnv = { ...process.env, XDG_STATE_HOME };
    // Whoever sets it has Node keep the code elsewhere.
    delete env['NODE_COMPILE_CACHE'];
    return execFileSync(process.execPath, toolbreakCommand('run', '--help'), { encoding: 'utf8', env });
  };

  it('is in a folder that only its user can enter', () => {
    run(join(place.folder, 'state'));
    const code = join(state(), 'code');
    assert.equal(readdirSync(code).length, 1);
    if (process.platform !== 'win32') assert.equal(statSync(code).mode & 0o077, 0);
  });

  it('is done without where there is no folder for it', () => {
    writeFileSync(join(place.folder, 'file'), '');
    assert.match(run(join(place.folder, 'file')), /Usage: toolbreak run/);
  });

  it('goes when it is old', () => {
    const kind = join(state(), 'code', 'v24');
    mkdirSync(kind, { recursive: true });
    const [old, young] = [join(kind, 'old'), join(kind, 'young')];
    for (const file of [old, young]) writeFileSync(file, '');
    const now = Date.now();
    utimesSync(old, now / 1000, now / 1000 - 31 * 24 * 3600);
    forgetOldCode(state(), now);
    assert.deepEqual([existsSync(old), existsSync(young)], [false, true]);
    forgetOldCode(join(place.folder, 'nothing'));
  });
});
