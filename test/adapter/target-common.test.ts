import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noPython, pythonFreeThreaded, pythonNotFound, pythonTooOld } from '../../adapter/common/errors';
import { Log } from '../../adapter/common/log';
import { Masker } from '../../adapter/common/masker';
import { LineSplitter, parseObject } from '../../adapter/common/ndjson';
import { maskText, StreamMasker } from '../../adapter/common/masking';
import { makePrivateFolder, makeRuntimeFolder, runsFolder, stateFolder } from '../../adapter/common/paths';
import { parsePs, treeOf } from '../../adapter/common/processes';
import { cleanUpSessions, listSessions, SessionFolder } from '../../adapter/common/sessions';
import { SECRET_WORDS } from '../../protocol/secrets';
import { parseEnvFile } from '../../adapter/targets/python/environment';
import { mergeStates } from '../../adapter/targets/python/base';
import { Place } from './target-support';

describe('Errors for the person', () => {
  it('have buttons that exist', () => {
    const manifest = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
      contributes: { commands: { command: string }[] };
    };
    const commands = manifest.contributes.commands.map(({ command }) => command);
    for (const error of [noPython(), pythonNotFound('x'), pythonTooOld('3.9'), pythonFreeThreaded('3.14')])
      assert.ok(commands.includes(error.action!.command), error.action!.command);
  });
});

describe('Masking', () => {
  const secrets = [
    'sk-proj-abcdef1234567890',
    'ghp_abcdefghijklmnop1234',
    'AKIAIOSFODNN7EXAMPLE',
    'xoxb-123456789-abcdef',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123',
  ];
  for (const secret of secrets) {
    it(`masks ${secret.slice(0, 6)}… anywhere in a text`, () => {
      for (const text of [secret, `say ${secret}, or`, `"${secret}"`, `\n${secret}\n`]) {
        const masked = maskText(text);
        assert.ok(!masked.includes(secret.slice(8)), masked);
        assert.equal(masked, text.replace(secret, '***'));
      }
    });
  }
  const named: [string, string][] = [
    ['{"api_key": "hunter2"}', '{"api_key": "***"}'],
    ["{'password': 'it\\'s', 'n': 1}", "{'password': '***', 'n': 1}"],
    ['{\\"token\\": \\"abc\\", \\"a\\": 1}', '{\\"token\\": \\"***\\", \\"a\\": 1}'],
    ['Authorization: Bearer abc.def', 'Authorization: ***'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: ***'],
    ['curl -H "Bearer abcdefghijk"', 'curl -H "Bearer ***"'],
    ['OPENAI_API_KEY=abcdef python', 'OPENAI_API_KEY=*** python'],
    ['db_password: hunter2', 'db_password: ***'],
    ['https://user:hunter2@host/x?access_token=abc&n=1', 'https://user:***@host/x?access_token=***&n=1'],
    ['postgres://me:p%40ss@db', 'postgres://me:***@db'],
    ['postgres://me:p@ss@db/x', 'postgres://me:***@db/x'],
    ['me:hunter2@db.example.org:5432/x', 'me:***@db.example.org:5432/x'],
    ['Cookie: session=abcdef; csrf=hunter2', 'Cookie: ***'],
    ['Cookie: a=b; csrf=hunter2, a cookie: 1; milk: 2', 'Cookie: ***, a cookie: 1; milk: 2'],
    [
      '"Set-Cookie": "a=bcdef; Expires=Wed, 21 Oct 2026 07:28:00 GMT; id=hunter2", "n": 1',
      '"Set-Cookie": "***", "n": 1',
    ],
    ['https://a.example.org/x?sv=1&sig=hunter2%3D&n=1', 'https://a.example.org/x?sv=1&sig=***&n=1'],
    ['https://a.example.org/x?X-Amz-Signature=hunter2', 'https://a.example.org/x?X-Amz-Signature=***'],
    ["{'name': 'DB_PASSWORD', 'value': 'hunter2'}", "{'name': 'DB_PASSWORD', 'value': '***'}"],
    ["{'field': 'password', 'value': 'hunter2'}", "{'field': 'password', 'value': '***'}"],
    ['passcode := "hunter2"', 'passcode := "***"'],
    ['https://0123456789abcdef0123@git.example.org/x', 'https://***@git.example.org/x'],
    ['{\\"key\\": \\"api_key\\", \\"value\\": \\"hunter2\\"}', '{\\"key\\": \\"api_key\\", \\"value\\": \\"***\\"}'],
    ["['psql', '--db-password', 'hunter2']", "['psql', '--db-password', '***']"],
    ['psql --password hunter2 shop', 'psql --password *** shop'],
    ["tool --password 'correct horse hunter2' x", "tool --password '***' x"],
    ['{"cmd": "docker login --password \\"hunter2\\" x"}', '{"cmd": "docker login --password \\"***\\" x"}'],
    ['password1=hunter2 passwordHash: hunter2, sasToken=hunter2', 'password1=*** passwordHash: ***, sasToken=***'],
    ['subscription_key=hunter2 ssh_key: hunter2', 'subscription_key=*** ssh_key: ***'],
    ['"password": {"type": "string", "title": "Password"}', '"password": {"type": "string", "title": "Password"}'],
    ["['api_key', 'hunter2']", "['api_key', '***']"],
    ["Login(user='ann', password='correct horse hunter2')", "Login(user='ann', password='***')"],
    ['token: "yes we can, hunter2" and', 'token: "***" and'],
    ['api_key=0x0000555555556010 "hunter2", n=1', 'api_key=*** "***", n=1'],
    ['password=\\"correct horse\\" \\"a\\"', 'password=\\"***\\" \\"a\\"'],
    ['passwords=[abcdef, hunter2]', 'passwords=***'],
    ['secrets: none-hunter2', 'secrets: ***'],
    ['secret: none\npassword: hunter2', 'secret: none\npassword: ***'],
    ['password=no)way!hunter2', 'password=***'],
    ['password=[]hunter2, password: true\\hunter2', 'password=***, password: ***'],
    ['Cookie: none; sid=hunter2', 'Cookie: ***'],
    ['{"password": "not all hunter2"}', '{"password": "***"}'],
    ["passwords=['aa[1]bb', 'hunter2']", 'passwords=***'],
    ["secrets = {'a': ['x1xx', 'hunter2'], 'b': 'don]t'}", 'secrets = ***'],
    ['API_KEYS: {"a": "b", "c": "d"}', 'API_KEYS: ***'],
    ['refresh_tokens=hunter2 client-secrets: hunter2', 'refresh_tokens=*** client-secrets: ***'],
    ['{"SecretAccessKey": "hunter2", "nextToken": "page2"}', '{"SecretAccessKey": "***", "nextToken": "page2"}'],
    ["{'authorization': ['hunter2'], 'n': 1}", "{'authorization': ***, 'n': 1}"],
    ["[(b'cookie', b'hunter2'), (b'host', b'x')]", "[(b'cookie', b'***'), (b'host', b'x')]"],
    ['["db.password", "hunterpass"]', '["db.password", "***"]'],
    [
      '{"name": "spring.datasource.password", "value": "hunterpass"}',
      '{"name": "spring.datasource.password", "value": "***"}',
    ],
    ['["--authorization", "hunterpass"]', '["--authorization", "***"]'],
    ['<authorization>hunterpass</authorization>', '<authorization>***</authorization>'],
    ['[\\"password\\", \\"hunterpass\\"]', '[\\"password\\", \\"***\\"]'],
    ['sk-abcd1234 hf_abcdefgh12345678', '*** ***'],
    [
      '[{\\"name\\": \\"DB_PASSWORD\\", \\"value\\": \\"hunter2\\"}]',
      '[{\\"name\\": \\"DB_PASSWORD\\", \\"value\\": \\"***\\"}]',
    ],
    ['authorization: [x for x in y]', 'authorization: ***'],
    ['MYSQL_PWD=hunter2 githubToken: hunter2', 'MYSQL_PWD=*** githubToken: ***'],
  ];
  for (const [text, masked] of named) it(`masks ${text}`, () => assert.equal(maskText(text), masked));
  for (const text of [
    'max_tokens: 4000, "tokens": 12',
    'the token is fine',
    'http://host:80/a@b',
    'total_tokens=12',
    'prompt_tokens=1200 completion_tokens: 3400, "session_tokens": 5000',
    "{'name': 'token_count', 'value': 'seven'}",
    'send to: ann2@example.org, or ask',
    'https://a.example.org/search?key=name&code=404',
    'give --token and --password to log in',
    'sk-short',
    'found secrets: none',
    'found secrets: None. Next',
    "{'secret': None, 'passwords': []}",
    '{"api_key": null, "password": "unset", "enabled": true}',
    'password=empty&x=1, token: missing',
    'access_token: invalid\nsecrets = {}',
  ])
    it(`leaves ${text}`, () => assert.equal(maskText(text), text));

  const before = (words: string, rest: string): string[] => words.split(' ').map((word) => `${word}${rest}`);
  for (const name of [
    ...'api_key api-keys secret secrets secret_key client_secret access_key access_key_id private_key'.split(' '),
    ...'token id_token password passwd passphrase passcode password_confirmation'.split(' '),
    ...'authorization x-api-key cookie cookies credential credentials'.split(' '),
    ...before(SECRET_WORDS.keyBefore, '_key'),
    ...before(SECRET_WORDS.passBefore, '_pass'),
    ...before(SECRET_WORDS.tokensBefore, '_tokens'),
  ]) {
    // As a debugger of C shows it, which the runtimes know nothing of; and alone, so that nothing else makes it looked for.
    const shown = `${name.toUpperCase()} = 0x7ffd1234 "hunter2word"`;
    it(`masks ${shown}`, () => assert.ok(!maskText(shown).includes('hunter'), maskText(shown)));
  }

  it('masks a secret that two chunks share, and a key over several lines', () => {
    const masker = new StreamMasker([/my-\d+/g]);
    let out = masker.push('a sk-proj-abcd');
    out += masker.push('efgh12345 b my-12');
    out += masker.push('34\nrest\n-----BEGIN PRIVATE KEY-----\nMIIabc\n');
    out += masker.push('MIIdef\n');
    out += masker.push('-----END PRIVATE KEY-----\nafter');
    out += masker.flush();
    assert.equal(out, 'a *** b ***\nrest\n***\nafter');
  });
  it('masks in data what the runtimes mask there', () => {
    const masker = new Masker({ maskKeys: ['iban'], maskPatterns: [] });
    const data = {
      ...{ githubToken: 'hunter2', pwd: 'hunter2', 'openai.api.key': 'hunter2', jwt: 'hunter2', IBAN: 'hunter2' },
      rows: [
        { name: 'DB_PASSWORD', value: 'hunter2' },
        { selector: '#password', value: 'hunter2' },
        { element: 'Password field', ref: 'e1', text: 'hunter2' },
        { key: 'api_key', value: { a: 'hunter2' } },
      ],
      lists: [
        ['--password', 'hunter2'],
        ['authorization', 'hunter2'],
      ],
      text: 'MYSQL_PWD=hunter2',
      bytes: "{'password': b'hunter2'}",
      ...{
        tokens: ['tokens', '120'],
        row: { name: 'city', value: 'Paris', text: 'password' },
        option: ['--password', '--verbose'],
      },
    };
    const masked = masker.recorded(data);
    assert.ok(!JSON.stringify(masked).includes('hunter2'), JSON.stringify(masked));
    const { tokens, row, option } = data;
    assert.deepEqual({ tokens: masked.tokens, row: masked.row, option: masked.option }, { tokens, row, option });
  });
  it('takes linear time for hostile text', () => {
    // What looks for names is asked where a part of one is in the text.
    const masked = (text: string): void => {
      maskText(text);
      maskText(`${text} key `);
    };
    // A long word, such as a picture in base64, takes minutes if it is looked at from each of its letters.
    masked('a'.repeat(500_000));
    for (const part of [
      'a_',
      'a-',
      '\\',
      'eyJabcdef-',
      '("a_',
      'token=[',
      'a:aaa',
      '?sig',
      '--a-',
      '{"name":"',
      'token:"a',
      'token:\'a"',
      'token=\\"a',
      'token="a\\',
      'cookie:',
      '; ',
    ])
      masked(part.repeat(20_000));
    masked('"'.repeat(20_000));
    masked('\\'.repeat(500_000));
    masked('password'.repeat(5_000));
    masked('-----BEGIN PRIVATE KEY-----'.repeat(500));
    masked(`http://${'a:'.repeat(10_000)}`);
    masked(`http://${'a-'.repeat(10_000)}`.repeat(5));
    masked('{"selector":"a'.repeat(20_000));
    const masker = new Masker({ maskKeys: ['iban'], maskPatterns: [] });
    masker.text(' '.repeat(100_000));
  }).timeout(5_000);
});

describe('Lines', () => {
  it('cuts lines, whatever the chunks, and skips those that are too long', () => {
    const text = Buffer.from('{"a":"é"}\n\nxx\n' + 'y'.repeat(50) + 'z\nend\n');
    for (let size = 1; size < text.length; size++) {
      const lines: string[] = [];
      const heads: string[] = [];
      const splitter = new LineSplitter(
        (line) => lines.push(line),
        20,
        (head) => heads.push(head),
      );
      for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
      assert.deepEqual(lines, ['{"a":"é"}', 'xx', 'end']);
      assert.equal(heads.length, 1);
    }
  });
  it('takes objects only', () => {
    assert.deepEqual(parseObject('{"a":1}'), { a: 1 });
    for (const text of ['[1]', '1', 'null', '{', '']) assert.equal(parseObject(text), undefined);
  });
});

describe('Places', () => {
  it('each platform has its state folder', () => {
    assert.equal(stateFolder({ HOME: '/home/me' }, 'linux'), '/home/me/.local/state/toolbreak');
    assert.equal(stateFolder({ HOME: '/home/me', XDG_STATE_HOME: '/s' }, 'linux'), '/s/toolbreak');
    assert.equal(
      stateFolder({ HOME: '/home/me', XDG_STATE_HOME: 'relative' }, 'linux'),
      '/home/me/.local/state/toolbreak',
    );
    assert.equal(stateFolder({ HOME: '/Users/me' }, 'darwin'), '/Users/me/Library/Application Support/toolbreak');
    assert.match(runsFolder('/tmp', '/s'), /^\/s\/projects\/tmp-[0-9a-f]{10}\/runs$/);
    assert.match(runsFolder('/', '/s'), /^\/s\/projects\/project-/);
  });
  it('a folder of ours that others can enter is closed to them', function () {
    if (process.platform === 'win32') this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'tb-wide-'));
    try {
      chmodSync(folder, 0o755);
      makePrivateFolder(folder);
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('the log masks what the person named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tb-log-'));
    try {
      const log = new Log(join(folder, 'adapter.log'));
      log.maskWith((text) => text.replaceAll('ticket-77', '***'));
      log.error('failed', new Error('no ticket-77'));
      assert.doesNotMatch(readFileSync(join(folder, 'adapter.log'), 'utf8'), /ticket-77/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('the runtime folder is short and private; a foreign or too long one is passed over', () => {
    const place = new Place();
    const folder = makeRuntimeFolder({ XDG_RUNTIME_DIR: place.folder });
    assert.ok(folder.startsWith(join(place.folder, 'toolbreak')));
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    const long = join(place.folder, 'x'.repeat(120));
    mkdirSync(long);
    assert.ok(makeRuntimeFolder({ XDG_RUNTIME_DIR: long }).length < 90);
    place.remove();
  });
});

describe('Sessions', () => {
  it('are listed, told alive from dead, recovered once and tidied away', async () => {
    const place = new Place();
    const own = await SessionFolder.create('0.1.0', place.folder);
    own.addRun('r1', '/x/r1.db', 'app.py');
    own.events([{ name: 'held', token: 'sk-abcdefghijk' }]);
    const dead = await SessionFolder.create('0.1.0', place.folder);
    dead.addRun('r2', '/x/r2.db', 'dead.py');
    dead.update({});
    const path = join(dead.folder, 'session.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"startTime": "\d*"/, '"startTime": "1"'));
    const listed = await listSessions(place.folder);
    assert.deepEqual(
      new Map(listed.map(({ record, live }) => [record.session, live])),
      new Map([
        [own.id, true],
        [dead.id, false],
      ]),
    );
    assert.match(own.id, /^[a-z]+-[a-z]+-\d+$/);
    assert.ok(!readFileSync(join(own.folder, 'events.jsonl'), 'utf8').includes('abcdefghijk'));
    const recovered: string[] = [];
    const tidy = () =>
      cleanUpSessions(
        (folder) => recovered.push(folder) > 0,
        (_, error) => assert.fail(String(error)),
        place.folder,
      );
    await tidy();
    await tidy();
    assert.deepEqual(recovered, [dead.folder]);
    assert.ok(existsSync(join(own.folder, 'spool', 'r1')));
    own.close(false);
    assert.ok(!existsSync(join(own.folder, 'spool')));
    const index = JSON.parse(readFileSync(join(place.folder, 'sessions', 'index.json'), 'utf8')) as {
      session: string;
    }[];
    assert.deepEqual(index.map(({ session }) => session).sort(), [own.id, dead.id].sort());
    place.remove();
  });
});

describe('Processes', () => {
  const row = (pid: number, parent: number, group: number, zombie = false) => ({
    pid,
    parent,
    group,
    zombie,
    startTime: '',
    command: '',
  });
  it('a tree is those below and those of the group', () => {
    const rows = [
      row(10, 1, 10),
      row(11, 10, 11),
      row(12, 11, 12),
      row(13, 1, 10),
      row(14, 1, 14),
      row(15, 10, 10, true),
    ];
    assert.deepEqual(
      treeOf(rows, [10], [10]).map(({ pid }) => pid),
      [10, 11, 12, 13],
    );
  });
  it('reads ps', () => {
    assert.deepEqual(parsePs('  10     1    10 Ss   Sat Nov  1 22:48:14 2025 /usr/bin/my app\n'), [
      {
        pid: 10,
        parent: 1,
        group: 10,
        zombie: false,
        startTime: 'Sat Nov 1 22:48:14 2025',
        command: '/usr/bin/my app',
      },
    ]);
  });
});

describe('Env files', () => {
  it('are read as shells would', () => {
    const text = '\uFEFF# c\r\nA=1\r\n export B = two words # said\nC="a\\"b\nc"\nD=\'$x\\n\'\nE=\nF=a#b\n';
    assert.deepEqual(parseEnvFile(text, 'f'), { A: '1', B: 'two words', C: 'a"b\nc', D: '$x\\n', E: '', F: 'a#b' });
  });
  it('name a bad line and show no value', () => {
    assert.throws(() => parseEnvFile('A=1\n\n1X=secret', '.env'), /Line 3 of \.env is not NAME=value: 1X\./);
    assert.throws(() => parseEnvFile('A="secret', '.env'), /Line 1 of .env(?!.*secret)/);
  });
});

describe('Breakpoint states of several processes', () => {
  it('verified anywhere is verified', () => {
    assert.deepEqual(
      mergeStates([
        [{ id: 1, verified: false, message: 'Waiting.' }],
        [{ id: 1, verified: true, line: 3, hits: 2 }],
        [{ id: 1, verified: false, hits: 5 }],
      ]),
      [{ id: 1, verified: true, line: 3, hits: 5 }],
    );
  });
});
