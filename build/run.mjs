// Runs commands in process groups of their own, and counts what test runners report.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, root } from './setup.mjs';

const ci = Boolean(process.env.CI);
/** Where Node keeps compiled code, for thousands of processes: each has a state folder of its own, where ours is kept otherwise. */
export const compiledCode = join(root, '.cache/node-code');
const groups = new Set();
/** Set when the person pressed Ctrl-C: nothing is started any more. */
export const interrupted = { yes: false };

function signalGroup(pid, signal) {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted.yes = true;
    for (const pid of groups) signalGroup(pid, 'SIGTERM');
  });
}

/**
 * Runs a command; its output goes to `log`, a file that is appended to, or to ours without one. After `minutes` the whole group is ended.
 * Answers the exit code.
 */
export function run(command, args, { minutes = 10, env = {}, log } = {}) {
  if (interrupted.yes) return Promise.resolve(1);
  return new Promise((resolve) => {
    const output = log === undefined ? 'inherit' : openSync(log, 'a');
    const child = spawn(command, args, {
      cwd: root,
      env: environment({ NODE_COMPILE_CACHE: compiledCode, ...env }),
      stdio: ['ignore', output, output],
      detached: process.platform !== 'win32',
    });
    if (log !== undefined) closeSync(output);
    groups.add(child.pid);
    const timer = setTimeout(() => {
      console.log(`${command} ${args.join(' ')} ran for more than ${minutes} minutes and was ended.`);
      signalGroup(child.pid, 'SIGKILL');
    }, minutes * 60_000);
    const done = (code) => {
      clearTimeout(timer);
      groups.delete(child.pid);
      resolve(code);
    };
    child.once('error', (error) => {
      console.log(`${command}: ${error.message}`);
      done(1);
    });
    child.once('exit', (code) => {
      // What it left behind in its group.
      signalGroup(child.pid, 'SIGKILL');
      done(code ?? 1);
    });
  });
}

/** Counts as the summary wants them: what was skipped has failed in CI, and a bad exit code is a failure of its own. */
function result(passed, failed, skipped, code) {
  const bad = failed + (ci ? skipped : 0);
  return { passed, failed: bad === 0 && code !== 0 ? 1 : bad, skipped: ci ? 0 : skipped };
}

/** A check that passes or fails as a whole. */
export const one = (code) => result(code === 0 ? 1 : 0, code === 0 ? 0 : 1, 0, code);

/** Counts of a report `{passed, failed, skipped, failures?}` in JSON; `failures` says for each which test, and why. */
export function jsonCounts(report, code) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const { passed, failed, skipped, failures } = JSON.parse(readFileSync(report, 'utf8'));
  return { ...result(passed, failed, skipped, code), failures };
}

/** Counts of a JUnit report. */
export function junitCounts(report, code) {
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const suite = /<testsuite [^>]*>/.exec(text)?.[0];
  if (!suite) return { passed: 0, failed: 1, skipped: 0 };
  const count = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = count('errors') + count('failures');
  const failures = [...text.matchAll(/<testcase [^>]*\bname="([^"]*)"[^>]*><(?:failure|error) message="([^"]*)"/g)];
  const counts = result(count('tests') - failed - count('skipped'), failed, count('skipped'), code);
  return { ...counts, failures: failures.map(([, name, message]) => `${name}: ${message}`) };
}
