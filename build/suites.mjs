// The suites of `npm test`: name to what runs it. Each answers { passed, failed, skipped }.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jsonCounts, junitCounts, one, run } from './run.mjs';
import { nodeBinary, pythonIn, root, setUpCompiler } from './setup.mjs';

export const artifacts = join(root, 'artifacts');
const bin = (name) => join(root, 'node_modules/.bin', name);
const check = (command, args, options) => async (log) => one(await run(command, args, { ...options, log }));

const testFiles = (folder, pattern) =>
  readdirSync(join(root, folder))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name));

function fresh(name) {
  const report = join(artifacts, name);
  rmSync(report, { force: true });
  return report;
}

const mocha = (name, files, options) => async (log) => {
  const report = fresh(`${name}.json`);
  const reporter = join(root, 'test/support/reporter.cjs');
  const args = ['--reporter', reporter, '--timeout', '60000', '--exit', ...files];
  const code = await run(nodeBinary(), ['--import', 'tsx', join(root, 'node_modules/mocha/bin/mocha.js'), ...args], {
    ...options,
    log,
    env: { ...options?.env, MOCHA_REPORT: report },
  });
  return jsonCounts(report, code);
};

const pytest =
  (name, ...args) =>
  async (log) => {
    const report = fresh(`pytest-${name}.xml`);
    const settings = ['-c', 'runtimes/python/pyproject.toml', '--rootdir', '.', '-p', 'no:cacheprovider'];
    const command = ['-m', 'pytest', ...settings, `--junitxml=${report}`, ...args, 'test/runtimes/python'];
    return junitCounts(report, await run(pythonIn(name), command, { minutes: 15, log }));
  };

/** Where the delegates are, for test/support/lldb.ts. */
const nativeEnvironment = ({ lldb19, lldb22, gdb }) => ({
  ...(lldb19 && { TOOLBREAK_TEST_LLDB_19: lldb19 }),
  ...(lldb22 && { TOOLBREAK_TEST_LLDB_22: lldb22 }),
  ...(gdb && { TOOLBREAK_TEST_GDB: gdb }),
});

/** What is done with every delegate; each that is missing counts as skipped, which is a failure in CI. */
const withDelegates = (native, suite) => async (log) => {
  const missing = ['lldb19', 'lldb22'].filter((name) => !native[name]).length;
  const counts = missing === 2 ? { passed: 0, failed: 0, skipped: 0 } : await suite(log);
  const skipped = (counts.skipped ?? 0) + (process.env.CI ? 0 : missing);
  return { ...counts, failed: counts.failed + (process.env.CI ? missing : 0), skipped };
};

/** What needs a browser; without one it is skipped, which is a failure in CI. */
const inBrowser =
  (name, script, browser, python, native, args = []) =>
  async (log) => {
    if (!browser || !(await setUpCompiler())) return { passed: 0, failed: process.env.CI ? 1 : 0, skipped: 1 };
    const report = fresh(`${name}.json`);
    const env = { TOOLBREAK_TEST_PYTHON: python, CHROMIUM: browser, RESULT: report, ...nativeEnvironment(native) };
    return jsonCounts(report, await run(nodeBinary(), ['--import', 'tsx', script, ...args], { minutes: 15, env, log }));
  };

const PYTHON_FILES = ['runtimes/python', 'test/runtimes', 'fixtures/apps'];

/** How each lane begins, while the rest is made ready: with what needs the npm packages alone. */
export const early = [
  {
    types: check(bin('tsc'), ['-p', '.']),
    'types-webview': check(bin('tsc'), ['-p', 'webview']),
    'types-node': check(bin('tsc'), ['-p', 'runtimes/node']),
    lint: check(bin('eslint'), ['.', '--max-warnings', '0'], {
      env: { NODE_OPTIONS: '--max-old-space-size=6000' },
    }),
    format: check(bin('prettier'), ['--check', '--log-level', 'warn', '.']),
    unused: check(bin('knip'), []),
    generated: check(bin('tsx'), ['build/generate.ts', '--check']),
    arrows: check(nodeBinary(), ['build/check-imports.mjs']),
  },
  {
    // It takes as long as the network does.
    'browser-workbench': async (log) =>
      one((await setUpCompiler()) ? await run(nodeBinary(), ['build/workbench.mjs'], { log }) : 1),
  },
];

/**
 * `first` must be over before the others start; `lanes` run side by side, each lane's suites in order, and then those of `either`, one by one for
 * whichever lane is free. `last` starts when no lane has suites of its own any more, beside those of `either`.
 * Pythons: names of environments, the full one first. `native`: the answer of `setUpNative`. The longest suites come first in their lane.
 */
export function suites([full, ...others], browser, native = {}) {
  const python = pythonIn(full);
  const ruff = (...args) =>
    check(python, ['-m', 'ruff', ...args, '--config', 'runtimes/python/pyproject.toml', ...PYTHON_FILES]);
  const scenarios = (name, pattern) => {
    const env = { TOOLBREAK_TEST_PYTHON: python, TOOLBREAK_TEST_DIST: '1', ...nativeEnvironment(native) };
    return mocha(name, testFiles('test/adapter', pattern), { minutes: 20, env });
  };
  const otherPythons = others.map((name) => {
    const marker = name.startsWith('langgraph') ? 'frameworks' : 'essential';
    return [`runtime-${name}`, pytest(name, '-m', marker)];
  });
  return {
    first: { bundle: check(nodeBinary(), ['build/bundle.mjs']) },
    lanes: [
      {
        'dap-langgraph': scenarios('dap-langgraph', /^e2e-langgraph.*\.test\.ts$/),
        'dap-outcomes': scenarios('dap-outcomes', /^e2e-(outcomes|kill|secrets|heartbeat)\.test\.ts$/),
        dap: scenarios('dap', /^e2e-(?!langgraph|outcomes|kill|secrets|heartbeat).*\.test\.ts$/),
        commands: scenarios('commands', /^(commands|life)(-.*)?\.test\.ts$/),
        fuzz: mocha('fuzz', testFiles('test/fuzz', /\.test\.ts$/)),
        unit: mocha('unit', [
          ...testFiles('test/adapter', /^(?!e2e-|life-|native-|commands).*\.test\.ts$/),
          ...testFiles('test/webview', /\.test\.ts$/),
          ...testFiles('test/runtimes/node', /\.test\.ts$/),
          ...testFiles('test/support', /\.test\.ts$/),
        ]),
        ruff: ruff('check'),
        'ruff-format': ruff('format', '--check'),
        pyright: check(bin('pyright'), ['-p', 'runtimes/python', '--pythonpath', python]),
      },
      {
        ...Object.fromEntries(
          ['stops', 'views'].map((part) => [
            `driven-${part}`,
            inBrowser(`driven-${part}`, 'test/workbench/driven.ts', browser, python, native, [part]),
          ]),
        ),
        native: withDelegates(native, scenarios('native', /^native-(?!mixed).*\.test\.ts$/)),
        'native-mixed': withDelegates(native, scenarios('native-mixed', /^native-mixed-.*\.test\.ts$/)),
        workbench: inBrowser('workbench', 'test/workbench/suite.ts', browser, python, native),
        demo: inBrowser('demo', 'test/workbench/demo.ts', browser, python, native),
        page: inBrowser('page', 'test/webview/page.ts', browser, python, native),
      },
    ],
    either: { runtime: pytest(full), ...Object.fromEntries(otherPythons) },
    // It bundles for release in the place where the others look.
    last: { vsix: inBrowser('vsix', 'test/workbench/vsix.ts', browser, python, native) },
  };
}
