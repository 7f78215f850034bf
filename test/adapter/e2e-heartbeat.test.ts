import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../adapter/common/processes';
import { environment, functions, probes, run, startAdapter, type Outcome } from './e2e-outcomes-support';
import { Place, python, until } from './target-support';

const program = join(probes, 'steady.py');
const SILENT = 'Toolbreak: the debugger does not answer any more; what was held goes on, without a debugger.\n';

describe('An adapter that hangs', function () {
  this.timeout(120_000);

  for (const why of ['while a task is held', 'while the app writes many lines to its log']) {
    it(`${why}: the app goes on, and ends as it would`, async () => {
      const place = new Place();
      const client = await startAdapter(place.folder, { TOOLBREAK_HEARTBEAT_SECONDS: '4' });
      let pid = 0;
      try {
        let inTerminal: Promise<Outcome> | undefined;
        client.answer('runInTerminal', (given) => {
          const { args, cwd, env } = given as { args: string[]; cwd: string; env: Record<string, string> };
          return new Promise((resolve) => {
            const options = { cwd, env: { ...environment(place.folder), ...env } };
            inTerminal = run(args, { ...options, onPid: (processId) => resolve({ processId }) });
          });
        });
        await client.initialize({ supportsRunInTerminalRequest: true });
        const launched = client.send('launch', {
          program,
          args: [place.folder, '3000'],
          cwd: probes,
          python,
          console: 'integratedTerminal',
        }).answer;
        await client.waitFor('initialized');
        const [tool, holdMe] = functions(program);
        const breakpoints = [
          { line: holdMe! },
          // What it says does not fit into the socket.
          ...(why.includes('lines') ? [{ line: tool!, logMessage: `${'much '.repeat(100)} {n}` }] : []),
        ];
        await client.request('setBreakpoints', { source: { path: program }, breakpoints });
        await client.request('configurationDone', {});
        await launched;
        pid = (await client.waitFor('process')).systemProcessId!;
        await client.waitFor('stopped');
        client.child!.kill('SIGSTOP');
        await until(() => existsSync(join(place.folder, 'result')) && !isAlive(pid), 'the result');
        assert.match(readFileSync(join(place.folder, 'result'), 'utf8'), /^2 \[/);
        const { code, stderr, stdout } = await inTerminal!;
        assert.deepEqual({ code, stderr }, { code: 0, stderr: SILENT });
        assert.match(stdout, /done\n$/);
        // It comes back, finds the app gone, and says so in order.
        client.child!.kill('SIGCONT');
        await client.waitFor('terminated');
        await client.request('disconnect', {});
        await client.closed;
        assert.equal(client.output['important'], undefined);
      } finally {
        client.child!.kill('SIGCONT');
        if (pid && isAlive(pid)) process.kill(pid, 'SIGKILL');
        await client.end();
        place.remove();
      }
    });
  }
});
