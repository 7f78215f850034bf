// `npm run bench`: sets up what is missing, then prints the benchmark table.
import { spawnSync } from 'node:child_process';
import {
  bundle,
  environment,
  nodeBinary,
  pythonIn,
  root,
  setUpBrowser,
  setUpNative,
  setUpNode,
  setUpPython,
} from './setup.mjs';

await setUpNode();
const [name] = await setUpPython({ all: false });
const { lldb19 = '', lldb22 = '' } = await setUpNative();
const browser = await setUpBrowser();
await bundle();
const { status } = spawnSync(nodeBinary(), ['--import', 'tsx', 'bench/run.ts', ...process.argv.slice(2)], {
  cwd: root,
  env: environment({
    TOOLBREAK_TEST_PYTHON: pythonIn(name),
    TOOLBREAK_TEST_DIST: '1',
    TOOLBREAK_TEST_LLDB_19: lldb19,
    TOOLBREAK_TEST_LLDB_22: lldb22,
    ...(browser && { CHROMIUM: browser }),
  }),
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
