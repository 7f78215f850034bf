import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { pythonBootFolder } from '../../adapter/common/installation';
import type { Taken } from '../../adapter/store/life/importSpools';
import type { QueryAnswer } from '../../protocol/query';
import { NodePlace, rows, RUNTIME } from './life-node-support';
import { run, SECRET_OPTIONS, type Said } from './life-support';
import { python } from './target-support';

const AGENT = `
import { wrap } from 'toolbreak';
import { setTimeout as sleep } from 'node:timers/promises';

const lookup = wrap(
  async function lookup(order_id, options) {
    await sleep(1);
    if (order_id === 13) throw new RangeError('unlucky order');
    return { order_id, region: 'eu', api_key: 'hunter2hunter2', ...options };
  },
  { kind: 'tool' },
);
const agent = wrap(
  async function agent(question) {
    const orders = await Promise.all([lookup(7, { fast: true }), lookup(8)]);
    await lookup(13).catch(() => undefined);
    return orders.length;
  },
  { kind: 'workflow' },
);
console.log(await agent('where is it?'));
`;

describe('life: recording in Node', function () {
  this.timeout(120_000);
  let place: NodePlace;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    place = new NodePlace();
    folder = place.recorded;
    env = place.recording;
    place.file('agent.mjs', AGENT);
  });
  afterEach(() => place.remove());

  const node = (args: string[], more?: NodeJS.ProcessEnv): Promise<Said> => place.node(args, more);
  const taken = (): Promise<Taken[]> => place.taken();
  const names = (file: string): unknown[] =>
    rows(file, 'SELECT f.name FROM calls c JOIN functions f ON f.id = c.function ORDER BY c.id').flat();

  it('is a run as any other: show, query, check, export', async () => {
    assert.deepEqual(await node(['agent.mjs']), { code: 0, stdout: '2\n', stderr: '' });
    const [first] = await taken();
    assert.deepEqual([first!.name, first!.calls, first!.alive], ['agent', 4, false]);
    const shown = (await place.say('show', 'last')).stdout.split('\n');
    assert.match(shown[0]!, new RegExp(`^run 1 · agent · .* · 4 calls · 1 error · Node ${process.versions.node} · `));
    assert.deepEqual(
      shown.slice(1, 5).map((line) => line.replace(/^\S+ +\S+ \S+ +/, '')),
      [
        "workflow agent(question='where is it?') → 2",
        "├─ tool lookup(order_id=7, options={'fast': True}) → {'order_id': 7, 'region': '…",
        "├─ tool lookup(order_id=8) → {'order_id': 8, 'region': 'eu', 'api_key': ***}",
        '└─ tool ✗ lookup(order_id=13): RangeError: unlucky order',
      ],
    );
    const line = AGENT.split('\n').findIndex((text) => text.includes('const lookup')) + 1;
    const call = (await place.say('show', 'last', '1.4')).stdout;
    assert.match(call, new RegExp(`agent\\.mjs:${line}\n`));
    assert.match(call, /Error\n {2}RangeError: unlucky order\n(?: {4}.*\n)* {4}.*agent\.mjs:\d+ in lookup/);
    const found = await place.say('query', '--where', 'argument.order_id equals 8');
    assert.match(found.stdout, /\n.*\b1\.3\b.*lookup\(order_id=8\) → \{'order_id': 8, 'region': 'eu', 'api…\n/);
    assert.deepEqual(
      (await place.json<{ rows: unknown[] }>('query', '--status', 'error', '--kind', 'tool')).rows.length,
      1,
    );
    assert.equal((await place.say('check', 'last')).code, 0);
    const out = join(place.folder, 'trace.json');
    assert.equal((await place.say('export', 'last', '--format', 'perfetto', '-o', out)).code, 0);
    assert.match(readFileSync(out, 'utf8'), /"lookup"/);
    for (const [name] of readdirSync(folder).map((each) => [each]))
      for (const file of readdirSync(join(folder, name!)))
        assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /hunter2/);
  });

  it('gives a value the same name as Python does', async () => {
    const value = {
      city: 'Zürich 😀',
      numbers: [0, -1, 1.5, 2 ** 31, -(2 ** 40), 2 ** 53 - 1, 1e300],
      nested: { yes: true, no: false, none: null, list: ['x'.repeat(300), []] },
      text: 'y'.repeat(500),
      // With these it is large enough to have a row of its own.
      ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key ${index}`, index])),
      secret: { password: 'hunter2hunter2', url: 'https://ann:hunter2hunter2@example.org/' },
    };
    place.file('same.json', JSON.stringify(value));
    place.file(
      'same.mjs',
      "import { readFileSync } from 'node:fs';\nimport { wrap } from 'toolbreak';\nconst keep = wrap(function keep(value) { return value; });\nkeep(JSON.parse(readFileSync('same.json', 'utf8')));\n",
    );
    place.file(
      'same.py',
      'import json\ndef keep(value):\n    return value\nkeep(json.load(open("same.json", encoding="utf-8")))\n',
    );
    assert.deepEqual(await node(['same.mjs']), { code: 0, stdout: '', stderr: '' });
    const other = { ...env, PYTHONPATH: pythonBootFolder(), TOOLBREAK_RECORD_FUNCTIONS: '@usercode' };
    assert.equal((await run(python, ['same.py'], { cwd: place.project, env: other })).code, 0);
    const [one, two] = (await taken()).map(({ file }) =>
      rows(file, 'SELECT hex(v.cid), hex(v.bytes) FROM calls c JOIN "values" v ON v.id = c.result'),
    );
    assert.equal(one!.length, 1);
    assert.match(String((one as unknown[][])[0]![0]), /^[0-9A-F]{64}$/);
    assert.deepEqual(one, two);
  });

  it('masks the texts that Python masks, and no others', async () => {
    const texts = [
      'token sk-abcdefghij0123456789ABCDEF and ghp_abcdefghijklmnop1234',
      'Authorization: Bearer abc.def-ghi, and BEARER abcdef123456',
      'authorization=Basic dXNlcjpwYXNzd29yZA==; Cookie: a=bcdef; expires=Thu, 01 Jan 2026 00:00:00; path=/',
      'Cookie: a=b; sid=hunter2, "set-cookie": "x=; y=z", a cookie: 1; milk: 2',
      'postgres://ann:hunter2@db.example.org/x, ann:hunter2@db.example.org:5432, mailto:ann@example.org',
      '(\'X_Api_Key\', \'abc\'), ["--db-password", "abc"], --client-secret a1bcdef',
      'https://x/y?sig=abc&Signature=def&key=short&code=0123456789abcdefg&SessionID=0123456789abcdefg',
      '{"name": "DB_PASSWORD", "value": "abc"}, {"KEY": "Set-Cookie", "Value": "abc"}',
      'Passwörter: PASSWORD=abcd, my_Secret: "abcd", next_token=abcd, apikeys = [a, b], tokens=55',
      'passwords=[abcdef, ghi], API_KEYS: {"a": "b"}, refresh-tokens=abcd, prompt_tokens=1200, session_tokens: 5000',
      '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- after',
      'eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc AKIAABCDEFGHIJKL AIzaabcdefghijabcdefghijabcdefghij xoxb-12345678',
      'nothing of the kind: key lime pie, a pass in the mountains = fine, b-c d_e A J (x) ["y"]',
      'Ünï:gehéim@host:80 ',
      'kundenname: Ann, {"iban": "X Y"}, kunde_2=3; --iban 7, ["--kunde", "Ann"], {\\"iban\\": \\"X\\"}, ünkunde=1, a^b',
      "iban: Bob, iban=b'BR12', iban: BR1234567, {'iban': b'X'}",
      "tool --password 'correct horse' x, password1=abcd, {'sasToken': b'abcd'}, ssh_key: abcd",
      'SMTP_PASS=abcd, {"userPass": "abcd"}, low_pass=abcd, --db-pass=abcd',
      'password := "abcd", OPENAI_KEY=abcd, appKey: abcdefgh, passcode=abcd, iban := "X Y", https://0123456789abcdef0123@host/x, ssh://git@host',
      '{"header": "X-Api-Key", "value": "abcd"}, {\'selector\': \'#db-password\', \'value\': \'abcd\'}, {"Field": "city", "value": "abcd"}',
      'page.fill("#password", "abcd"), {"selector":"input[type=\'password\']","value":"abcd"}, {\\"selector\\": \\"form #pwd\\", \\"value\\": \\"abcd\\"}',
      '{"element": "Password field", "ref": "e12", "text": "abcd"}, {\'locator\': \'#pwd\', \'keys\': \'abcd\'}, {"name": "password", "text": "abcd"}',
      'headers["Authorization"] = "abcd1234", headers["Cookie"] = "sid=abcd1234; x=y", {"name": "Password", "type": "textbox", "ref": "e5", "value": "abcd"}',
      'config["password"] = "abcd", api_key: Optional[str] = \'abcd\', PASSWORD: Final = "abcd", password: string = r"abcd", token: str | None = None',
      'password := os.Getenv("abcd"), token := r.Header.Get("abcd"), API_KEY := abcd12, https://0123456789abcdef0123:x-oauth-basic@host/',
      'https://john.smith.1985.work@host/ abfss://my-container-2024-data@account.example.net https://0123456789abcdef0123:@host/',
    ];
    const harmless = [
      'found secrets: None. Next',
      'passwords: [], token: "missing"',
      '{"token": " a", "logprob": 1}, eos_token=abcd',
    ];
    texts.push(...harmless);
    const words = [
      'apiKey',
      // Those that the person named, and what only looks like them.
      ...['Kundenname', 'kunde', 'IBAN', 'iban2', 'pin', 'rin', 'ay.z', 'xy.z', 'ayxz', 'a^b', 'a]b'],
      'q'.repeat(60),
      'API-KEY',
      'X-Auth-Token',
      'max_tokens',
      'access_tokens',
      'refreshTokens',
      'passwords',
      'total_tokens',
      'next_token',
      'password_hint',
      ...['secret_name', 'credentialsFile', 'secretArn', 'name_secret'],
      'ssh_key',
      'smtp_pass',
      ...['openAIKey', 'passCode', 'monkeyKey', "I can't find my API key"],
      ...['OPENAI_KEY', 'ddAppKey', 'monkey', 'door_passcode', 'input[type="password"]', '#pwd', 'a=b'],
      'low_pass',
      'keys',
      'Geheim',
      'secret value',
      'clé_secret',
      'a'.repeat(120),
    ];
    place.file('texts.json', JSON.stringify({ texts, words }));
    place.file(
      'mask.py',
      'import json, sys\nimport os\nfrom toolbreak._masking import Masking\ngiven = json.load(open("texts.json", encoding="utf-8"))\nmasking = Masking(os.environ["TOOLBREAK_RECORD_MASK_KEYS"].split(","))\njson.dump([[masking.text(text) for text in given["texts"]], [masking.is_secret_key(word) for word in given["words"]]], sys.stdout)\n',
    );
    place.file(
      'mask.mjs',
      "import { readFileSync } from 'node:fs';\nconst { maskText, isSecretKey } = await import(process.argv[2]);\nconst given = JSON.parse(readFileSync('texts.json', 'utf8'));\nconsole.log(JSON.stringify([given.texts.map(maskText), given.words.map(isSecretKey)]));\n",
    );
    const plain = {
      ...place.env,
      PYTHONPATH: join(pythonBootFolder(), '../..'),
      TOOLBREAK_RECORD_MASK_KEYS: 'kunde*,?ban,[pq]in,[!x]y.z,a[\\^]b,[z-a]*,[9-0,*q*q*q*q*q*q*b',
    };
    const options = { cwd: place.project, env: plain };
    const one = await run(python, ['mask.py'], options);
    const two = await run(process.execPath, ['mask.mjs', join(RUNTIME, 'masking.mjs')], options);
    assert.deepEqual([one.stderr, two.stderr], ['', '']);
    const [texted, worded] = JSON.parse(one.stdout) as [string[], boolean[]];
    assert.deepEqual(JSON.parse(two.stdout), [texted, worded]);
    assert.equal(texted.filter((text, index) => text !== texts[index]).length, texts.length - 1 - harmless.length);
    assert.deepEqual(worded.slice(1, 12), [true, true, true, false, true, false, true, false, false, true, false]);
  });

  it('has processes that Node and Python start, and workers, in one run', async () => {
    place.file('worker.mjs', "import { wrap } from 'toolbreak';\nwrap(function inWorker(n) { return n; })(1);\n");
    place.file('child.py', 'def in_python(n):\n    return n\nin_python(2)\n');
    place.file(
      'parent.mjs',
      `import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { wrap } from 'toolbreak';
wrap(function inParent(n) { return n; })(0);
await once(new Worker('./worker.mjs'), 'exit');
execFileSync(process.execPath, [...process.execArgv, 'worker.mjs']);
execFileSync(process.argv[2], ['child.py']);
`,
    );
    const more = { PYTHONPATH: pythonBootFolder(), TOOLBREAK_RECORD_FUNCTIONS: '@usercode' };
    assert.deepEqual(await node(['parent.mjs', python], more), { code: 0, stdout: '', stderr: '' });
    const all = await taken();
    assert.equal(all.length, 1);
    assert.deepEqual(names(all[0]!.file).sort(), ['inParent', 'inWorker', 'inWorker', 'in_python']);
    assert.deepEqual(
      rows(all[0]!.file, 'SELECT name, language FROM processes ORDER BY name').map((row) =>
        (row as string[]).join(' '),
      ),
      ['child.py python', 'parent.mjs node', 'worker.mjs node', 'worker.mjs (worker 1) node'],
    );
    assert.equal((await place.say('check', 'last')).code, 0);
  });

  it('is one run of all processes where its folder is named from where the first one runs', async () => {
    place.file(
      'starts.mjs',
      `import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
const agent = join(import.meta.dirname, 'agent.mjs');
spawnSync(process.execPath, ['--import', 'toolbreak/register', agent], { cwd: join(import.meta.dirname, 'node_modules'), stdio: 'inherit' });
`,
    );
    assert.equal((await node(['starts.mjs'], { TOOLBREAK_RECORD: 'kept' })).code, 0);
    assert.equal(readdirSync(join(place.project, 'kept')).length, 1);
    const [one, ...others] = await place.json<Taken[]>('import', join(place.project, 'kept'));
    assert.deepEqual([one!.calls > 0, others.length], [true, 0]);
  });

  it('is begun by the app itself, too, and by whichever copy of the package it has', async () => {
    place.file(
      'own.mjs',
      `import { record, wrap } from 'toolbreak';
const { wrap: other } = await import('toolbreak?copy');
const early = wrap(function early() {});
early();
try { record(); } catch (error) { console.log(error.message); }
const own = record(process.argv[2]);
console.log(own.startsWith(process.argv[2]), record('elsewhere') === own);
early();
other(function late() {})();
`.replace("import('toolbreak?copy')", "import(new URL('./copy/index.mjs', import.meta.url))"),
    );
    const copy = join(place.project, 'copy');
    mkdirSync(copy);
    for (const name of readdirSync(RUNTIME).filter((each) => each.endsWith('.mjs')))
      writeFileSync(join(copy, name), readFileSync(join(RUNTIME, name)));
    const said = await run(process.execPath, ['own.mjs', folder], { cwd: place.project, env: place.env });
    assert.deepEqual(said, { code: 0, stdout: 'name a folder, or set TOOLBREAK_RECORD\ntrue true\n', stderr: '' });
    assert.deepEqual(names((await taken())[0]!.file), ['early', 'late']);
    assert.equal(existsSync(join(place.project, 'elsewhere')), false);
  });

  it('writes no secret of a parameter that takes all that are left', async () => {
    place.file(
      'rest.mjs',
      "import { wrap } from 'toolbreak';\nwrap(function log_in(user, ...passwords) {})('ann', 'hunter2', { a: 'hunter2' });\nwrap(function sum(...numbers) {})(1, 2);\n",
    );
    assert.equal((await node(['rest.mjs'])).code, 0);
    const [name] = readdirSync(folder);
    for (const file of readdirSync(join(folder, name!)))
      assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /hunter2/, file);
    await taken();
    const { stdout } = await place.say('show', 'last');
    assert.match(stdout, /log_in\(user='ann', passwords=\*\*\*\)/);
    assert.match(stdout, /sum\(numbers=\[1, 2\]\)/);
  });

  it('writes no secret of the command line', async () => {
    assert.equal((await node(['agent.mjs', ...SECRET_OPTIONS])).code, 0);
    const [name] = readdirSync(folder);
    for (const file of readdirSync(join(folder, name!)))
      assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /hunter2/, file);
  });

  it('masks what the person names, and says that a size is none', async () => {
    const said = await node(['agent.mjs'], {
      TOOLBREAK_RECORD_MASK_KEYS: 'Question, reg*',
      TOOLBREAK_RECORD_MEGABYTES: 'x',
    });
    assert.deepEqual(said, {
      code: 0,
      stdout: '2\n',
      stderr: 'Toolbreak: TOOLBREAK_RECORD_MEGABYTES is "x", and has to be a whole number from 1 on: 2048 is taken.\n',
    });
    const [name] = readdirSync(folder);
    for (const file of readdirSync(join(folder, name!)))
      assert.doesNotMatch(readFileSync(join(folder, name!, file), 'latin1'), /where is it/, file);
    assert.equal((await taken())[0]!.calls, 4);
  });

  it('joins what started it, also where it says nothing of recording itself', async () => {
    place.file(
      'begins.mjs',
      `import { spawnSync } from 'node:child_process';
import { record, wrap } from 'toolbreak';
record(process.argv[2]);
wrap(function above() {})();
spawnSync(process.execPath, ['below.mjs'], { stdio: 'inherit' });
`,
    );
    place.file('below.mjs', "import { wrap } from 'toolbreak';\nwrap(function below() {})();\n");
    const said = await run(process.execPath, ['begins.mjs', folder], { cwd: place.project, env: place.env });
    assert.deepEqual(said, { code: 0, stdout: '', stderr: '' });
    assert.deepEqual(names((await taken())[0]!.file).sort(), ['above', 'below']);
  });

  it('tells lines and stacks of an app in one file with the package', async () => {
    place.file(
      'app.mjs',
      `import { wrap } from 'toolbreak';
export const pay = wrap(function pay() {
  throw new Error('no card');
});
try { pay(); } catch {}
`,
    );
    for (const [format, name] of [
      ['esm', 'all.mjs'],
      ['cjs', 'all.cjs'],
    ] as const) {
      const outfile = join(place.project, name);
      await build({
        absWorkingDir: place.project,
        entryPoints: ['app.mjs'],
        bundle: true,
        platform: 'node',
        format,
        outfile,
        logLevel: 'silent',
      });
      const bare = await run(process.execPath, [outfile], { cwd: place.project, env: place.env });
      assert.deepEqual(bare, { code: 0, stdout: '', stderr: '' });
      place.file(
        `starts-${format}.mjs`,
        `import { record } from 'toolbreak';\nrecord(process.argv[2]);\nawait import('./${name}');\n`,
      );
      const into = join(place.folder, format);
      await run(process.execPath, [`starts-${format}.mjs`, into], { cwd: place.project, env: place.env });
      await place.json<Taken[]>('import', into);
      const line =
        readFileSync(outfile, 'utf8')
          .split('\n')
          .findIndex((text) => /\bwrap2?\(function pay/.test(text)) + 1;
      assert.ok(line > 0);
      const { stdout } = await place.say('show', 'last', '1.1');
      assert.ok(stdout.includes(`${name}:${line}`), stdout);
    }
  });

  it('goes on where nothing can be written', async () => {
    writeFileSync(join(place.folder, 'file'), '');
    // Below the last one no folder can be made, and Node's own way tries for ever.
    const nowhere = [join(place.folder, 'file'), ...(process.platform === 'linux' ? ['/proc/nowhere'] : [])];
    for (const folder of nowhere) {
      const none = await node(['agent.mjs'], { TOOLBREAK_RECORD: folder });
      assert.deepEqual([none.code, none.stdout], [0, '2\n']);
      assert.match(
        none.stderr,
        /^Toolbreak: nothing is recorded of this Node process \(.*\); the program runs all the same\.\n$/,
      );
    }
    assert.equal(
      (await node(['agent.mjs'], { TOOLBREAK_RECORD: join(place.folder, 'not', 'yet', 'there') })).stderr,
      '',
    );
    assert.equal((await place.json<Taken[]>('import', join(place.folder, 'not', 'yet', 'there'))).length, 1);
    place.file(
      'many.mjs',
      "import { wrap } from 'toolbreak';\nconst work = wrap((n) => 'x'.repeat(1000) + n);\nfor (let n = 0; n < 5000; n++) work(n);\nconsole.log('done');\n",
    );
    const capped = await node(['many.mjs'], { TOOLBREAK_RECORD_MEGABYTES: '2' });
    assert.deepEqual([capped.code, capped.stdout], [0, 'done\n']);
    assert.equal(
      capped.stderr,
      'Toolbreak: Recording ended: nothing read the recording and it reached 2 MB. The app goes on without it.\n',
    );
    const [capped2] = await taken();
    // Each takes some 1,100 bytes, and what comes in one turn of the event loop is written in pieces.
    assert.ok(capped2!.calls > 1500 && capped2!.calls < 2000, `${capped2!.calls}`);
    assert.equal(capped2!.partial, true);
    const {
      rows: [mark],
    } = await place.json<QueryAnswer>('query', 'last', '--type', 'event');
    assert.equal(
      (mark as { text: string }).text,
      'Note: Recording ended: nothing read the recording and it reached 2 MB. The app goes on without it.',
    );
    const small = join(place.folder, 'small');
    mkdirSync(small);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
    if (process.platform !== 'linux' || mounted.status !== 0) return;
    try {
      const full = await node(['many.mjs'], { TOOLBREAK_RECORD: small });
      assert.deepEqual([full.code, full.stdout], [0, 'done\n']);
      assert.match(full.stderr, /^Toolbreak: Recording ended: .*No space left on device.*\n$/);
      const [kept] = await place.json<Taken[]>('import', small);
      assert.equal((await place.say('check', kept!.run)).code, 0);
    } finally {
      spawnSync('umount', ['-l', small]);
    }
  });
});
