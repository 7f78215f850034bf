import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, inflateSync, unzipSync, zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { apps, functions, probes, startAdapter } from './e2e-outcomes-support';
import { Place, python } from './target-support';

const ARGV = 'sk-CANARYu1aB2cD3eF4gH5iJ6kL7';
const ENVIRONMENT = 'sk-CANARYv1aB2cD3eF4gH5iJ6kL7';
/** What is part of every secret, in the forms in which it could lie in a file. */
const FORMS: Record<string, RegExp> = {
  plain: /CANARY[0-9a-z]?.{0,20}/,
  // The halves of the secret that two writes cut.
  'in pieces': /ghp_CANA|RYs1aB2c/,
  'utf-16': /C\0A\0N\0A\0R\0Y/,
  // The three places where it can begin in a group of base64.
  base64: /Q0FOQVJZ|NBTkFSW|DQU5BUl/,
  hexadecimal: /43414e415259/i,
};

function files(folder: string): string[] {
  return unlessGone(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : entry.isFile() ? [path] : [];
  });
}

/** A spool that was read to its end is deleted, and its folder. */
function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}

/** The bytes of a file, and for a run file every cell of every table, as it is and unpacked. */
function contents(path: string): [string, Buffer][] {
  const bytes = unlessGone(() => readFileSync(path), undefined);
  if (bytes === undefined) return [];
  const found: [string, Buffer][] = [[path, bytes]];
  if (!path.endsWith('.db')) return found;
  const db = new Database(path, { readonly: true });
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
  for (const table of tables) {
    for (const row of db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[]) {
      for (const [column, cell] of Object.entries(row)) {
        if (typeof cell === 'string') found.push([`${path} ${table}.${column}`, Buffer.from(cell)]);
        if (!Buffer.isBuffer(cell)) continue;
        found.push([`${path} ${table}.${column}`, cell]);
        for (const unpack of [inflateSync, unzipSync, brotliDecompressSync, zstdDecompressSync]) {
          try {
            found.push([`${path} ${table}.${column} unpacked`, unpack(cell)]);
          } catch {
            // Not packed in this way.
          }
        }
      }
    }
  }
  db.close();
  return found;
}

function leaks(folder: string): string[] {
  return files(folder).flatMap((file) =>
    contents(file).flatMap(([place, bytes]) =>
      Object.entries(FORMS).flatMap(([form, pattern]) => {
        const match = pattern.exec(bytes.toString('latin1'));
        return match
          ? [`${place}, ${form}: ${bytes.toString('latin1', Math.max(match.index - 60, 0), match.index + 60)}`]
          : [];
      }),
    ),
  );
}

describe('Secrets', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.remove());

  const programs = [
    join(apps, 'secrets', 'secrets_app.py'),
    join(apps, 'secrets', 'secrets_graph.py'),
    join(probes, 'careless.py'),
  ];
  for (const program of programs) {
    it(`stay out of every file: ${program.split('/').at(-1)!}`, async () => {
      const client = await startAdapter(place.folder);
      let shown = '';
      try {
        await client.initialize();
        const launched = client.send('launch', {
          program,
          args: ['--api-key', ARGV, `--token=${ARGV}`, '--password', 'CANARYx-argv'],
          env: { OPENAI_API_KEY: ENVIRONMENT },
          python,
          cwd: join(program, '..'),
          trace: true,
          record: { functions: ['@usercode'] },
        }).answer;
        await Promise.race([client.waitFor('initialized'), launched]);
        const lines = functions(program);
        await client.request('setBreakpoints', {
          source: { path: program },
          breakpoints: lines.flatMap((line) => [{ line }, { line, logMessage: 'called with {args}' }]),
        });
        await client.request('setExceptionBreakpoints', { filters: ['tool'] });
        await client.request('configurationDone', {});
        await launched;
        let over = false;
        const ended = client.waitFor('terminated').then(() => (over = true));
        for (;;) {
          const stopped = await Promise.race([client.waitFor('stopped'), ended]);
          if (typeof stopped === 'boolean' || over) break;
          const threadId = stopped.threadId!;
          const [top] = await client.frames(threadId);
          shown += top!.name;
          const { scopes } = await client.request('scopes', { frameId: top!.id });
          for (const { variablesReference, name } of scopes) {
            const { variables } = await client.request('variables', { variablesReference });
            shown += JSON.stringify(variables);
            const secret = variables.find((one) => /password|api_key/.test(one.name));
            if (name === 'Arguments' && secret) {
              await client.request('setVariable', { variablesReference, name: secret.name, value: '"CANARYw-edited"' });
            }
          }
          await client.request('evaluate', { expression: 'dict(args)', frameId: top!.id, context: 'repl' });
          // The spools are there now, and not at the end.
          assert.ok(files(join(place.folder, 'state')).some((file) => file.endsWith('.spool')));
          assert.deepEqual(leaks(join(place.folder, 'state')), []);
          await client.request('continue', { threadId });
        }
        // What a person looks at is not masked.
        assert.match(shown, /CANARY/);
        assert.match(client.output['stdout']! + (client.output['console'] ?? ''), /CANARY/);
        const state = join(place.folder, 'state');
        assert.deepEqual(leaks(state), []);
        await client.request('disconnect', {});
        await client.closed;
        assert.deepEqual(leaks(state), []);
        const all = files(state)
          .map((file) => unlessGone(() => readFileSync(file, 'latin1'), ''))
          .join('');
        // That it searched what was recorded, and not nothing.
        for (const name of ['trace.log', 'adapter.log', '.db', 'session.json']) {
          assert.ok(
            files(state).some((file) => file.endsWith(name)),
            name,
          );
        }
        assert.match(all, /visible/);
      } finally {
        await client.end();
      }
    });
  }
});
