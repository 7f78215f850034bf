import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../adapter/common/processes';
import { functions, probes, startAdapter } from './e2e-outcomes-support';
import { Place, python, until } from './target-support';

const program = join(probes, 'steady.py');
/** An error that nothing catches, at a word of the test's. */
const provoke = `process.on('SIGUSR2',()=>{throw%20new%20Error('provoked')})`;

describe('an error of ours that nothing catches', () => {
  it('lets the app run on, its held call released, and says so', async function () {
    if (process.platform === 'win32') this.skip();
    const place = new Place();
    const client = await startAdapter(place.folder, { NODE_OPTIONS: `--import=data:text/javascript,${provoke}` });
    let pid = 0;
    try {
      await client.launch({ program, args: [place.folder, '50'], cwd: probes, python }, async () => {
        const breakpoints = [{ line: functions(program)[1]! }];
        await client.request('setBreakpoints', { source: { path: program }, breakpoints });
      });
      pid = (await client.waitFor('process')).systemProcessId!;
      await client.waitFor('stopped');
      client.child!.kill('SIGUSR2');
      await client.waitForOutput('important', 'failed inside');
      await client.waitFor('terminated');
      await until(() => existsSync(join(place.folder, 'result')) && !isAlive(pid), 'the result');
      await client.closed;
    } finally {
      if (pid !== 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
      await client.end();
      place.remove();
    }
  });
});
