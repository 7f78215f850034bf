import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Frame } from '../../protocol/control';
import { pythonRuntimeFolder } from '../../adapter/common/installation';
import { joinStacks, type JoinOptions } from '../../adapter/targets/mixed/join';
import {
  readPythonStack,
  type PythonFrame,
  type PythonPlaces,
  type PythonStack,
} from '../../adapter/targets/mixed/pythonStack';
import { findPython } from '../support/python';
import { until } from './target-support';

const APP = `
import json, os, sys, threading
import toolbreak
from toolbreak import _calls, _gates

_calls.attached = True

@toolbreak.tool
def outer(order_id, region="eu", big=-(2**70)):
    text = "naïve €"
    emoji = "it's 🙂"
    pair = (1, 2.5)
    nothing = None
    seen = {"a": 1}
    def inner(z):
        with_text = text
        return sys.stdin.read(
            1)
    return inner(True)

def work():
    print(json.dumps({"tid": threading.get_native_id(), "pid": os.getpid(), **_gates._places()}), flush=True)
    outer(7)

threading.Thread(target=work, name="worker").start()
`;

/** Every Python that is there to test with. */
function pythons(): string[] {
  const folder = join(__dirname, '..', '..', '.cache', 'python');
  if (!existsSync(folder)) return [findPython()];
  return readdirSync(folder)
    .filter((name) => /^3\.\d+$/.test(name))
    .map((name) => join(folder, name, 'bin', 'python'))
    .filter((path) => existsSync(path));
}

/** The stack, once the thread waits where it is to wait; before that it moves, and what is read of it may make no sense. */
async function stackIn(places: PythonPlaces & { pid: number; tid: number }, name: string): Promise<PythonStack> {
  let stack: PythonStack | undefined;
  await until(() => {
    try {
      stack = readPythonStack(places.pid, places.tid, places);
    } catch {
      stack = undefined;
    }
    return stack?.frames.some((frame) => frame.name.split('.').pop() === name) ?? false;
  }, `the function ${name}`);
  return stack!;
}

describe('The Python side of a process that stands still', function () {
  this.timeout(60_000);
  if (process.platform !== 'linux') return;
  let folder: string;
  let app: ChildProcess | undefined;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolbreak-mixed-'));
    writeFileSync(join(folder, 'app.py'), APP.trimStart());
  });
  afterEach(() => app?.kill('SIGKILL'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const python of pythons()) {
    it(`is read from the memory of ${python.split('/').at(-3)}`, async () => {
      const path = join(folder, 'app.py');
      app = spawn(python, [path], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, PYTHONPATH: pythonRuntimeFolder() },
      });
      const [line] = (await once(createInterface(app.stdout!), 'line')) as [string];
      const told = JSON.parse(line) as PythonPlaces & { pid: number; tid: number };
      const stack = await stackIn(told, 'inner');
      const frames = stack.frames.map(({ name, path: file, line: at }) => [name.split('.').pop(), file === path, at]);
      const lineOf = (text: string): number =>
        APP.trimStart()
          .split('\n')
          .findIndex((one) => one.includes(text)) + 1;
      const start = frames.findIndex(([name]) => name === 'inner');
      assert.deepEqual(frames.slice(start, start + 3), [
        ['inner', true, lineOf('sys.stdin.read(')],
        ['outer', true, lineOf('return inner(')],
        ['work', true, lineOf('outer(7)')],
      ]);
      const values = (index: number): Record<string, string> =>
        Object.fromEntries(stack.frames[start + index]!.locals.map(({ name, value }) => [name, value]));
      assert.deepEqual(values(0), { z: 'True', with_text: "'naïve €'", text: "'naïve €'" });
      assert.deepEqual(values(1), {
        order_id: '7',
        region: "'eu'",
        big: '-1180591620717411303424',
        emoji: '"it\'s 🙂"',
        pair: 'tuple (2)',
        nothing: 'None',
        seen: 'dict (1)',
        inner: 'function',
        text: "'naïve €'",
      });
      assert.equal(stack.calls.length, 1);
      const [call] = stack.calls;
      assert.deepEqual(
        { kind: call!.kind, name: call!.name, path: call!.path, line: call!.line, task: call!.task.name },
        { kind: 'tool', name: 'outer', path: realpathSync(path), line: lineOf('def outer'), task: 'worker' },
      );
      assert.deepEqual(
        call!.args.map(({ name, value }) => `${name}=${value}`),
        ['order_id=7', "region='eu'", 'big=-1180591620717411303424'],
      );
      if (!python.includes('/3.10/')) assert.equal(call!.frame, stack.frames[start + 1]!.object);
      assert.equal(readPythonStack(told.pid, 1, told), undefined, 'a thread that is none of its');
    });
  }
});

describe('Two stacks as one', () => {
  let number = 100;
  const files = new Map<string, string>();
  const options: JoinOptions = {
    library: '/usr/lib/python3.11',
    own: '/ours/toolbreak',
    justMyCode: true,
    fileOf: (frame) => files.get(frame.name),
    nextId: () => ++number,
  };
  const native = (name: string, file?: string): Frame => {
    if (file !== undefined) files.set(name, file);
    return { id: 1, kind: 'source', name, detail: '', line: 1, subtle: false, canRestart: false };
  };
  const python = (name: string, more: Partial<PythonFrame> = {}): PythonFrame => ({
    object: 0,
    name,
    path: __filename,
    line: 10,
    firstLine: 5,
    isEntry: false,
    locals: [],
    ...more,
  });
  const names = (stack: Frame[], lines: PythonFrame[], more: Partial<JoinOptions> = {}): string[] =>
    joinStacks(stack, { frames: lines, calls: [] }, { ...options, ...more }).frames.map(({ name }) => name);

  const LOOP = native('_PyEval_EvalFrameDefault', '/usr/bin/python3.11');
  const GLUE = [native('ffi_call', '/lib/libffi.so.8'), native('secret', '/lib/_ctypes.cpython-311.so')];
  const MAIN = [native('Py_RunMain', '/usr/bin/python3.11'), native('main', '/usr/bin/python3.11')];

  it('puts C before the lines that called it, and hides how it got there', () => {
    const stack = [native('add', '/app/lib.so'), ...GLUE, LOOP, ...MAIN];
    assert.deepEqual(names(stack, [python('inner'), python('outer', { isEntry: true })]), ['add', 'inner', 'outer']);
  });

  it('interleaves C that calls Python that calls C', () => {
    const stack = [
      native('leaf', '/app/lib.so'),
      ...GLUE,
      LOOP,
      ...GLUE,
      native('sort', '/app/lib.so'),
      ...GLUE,
      LOOP,
      ...MAIN,
    ];
    assert.deepEqual(names(stack, [python('callback', { isEntry: true }), python('caller', { isEntry: true })]), [
      'leaf',
      'callback',
      'sort',
      'caller',
    ]);
  });

  it("takes our own compiled part for none of the person's libraries", () => {
    const through = [
      native('vectorcall', '/usr/bin/python3.11'),
      native('call_with', '/ours/toolbreak/_compiled.abi3.so'),
      native('branch_call', 'C:\\ours\\toolbreak\\_compiled.pyd'),
    ];
    const theirs = native('other', '/app/_compiled.abi3.so');
    const stack = [native('leaf', '/app/lib.so'), LOOP, ...through, LOOP, ...through, theirs, LOOP];
    const lines = ['inner', 'middle', 'outer'].map((name) => python(name, { isEntry: true }));
    assert.deepEqual(names(stack, lines), ['leaf', 'inner', 'middle', 'other', 'outer']);
  });

  it('keeps what the library called inside the C library, and all where the interpreter itself fails', () => {
    const memcpy = native('memcpy', '/lib/libc.so.6');
    assert.deepEqual(names([memcpy, native('copy', '/app/lib.so'), LOOP], [python('line')]), [
      'memcpy',
      'copy',
      'line',
    ]);
    assert.deepEqual(names([memcpy, ...GLUE, LOOP], [python('line')]), ['memcpy', 'ffi_call', 'secret', 'line']);
  });

  it('shows the Python lines and says so where the native stack ends too early', () => {
    const lines = [python('callback', { isEntry: true }), python('caller', { isEntry: true })];
    const shown = names([native('leaf', '/app/lib.so'), LOOP], lines);
    assert.deepEqual([shown[0], shown[1], shown[3]], ['leaf', 'callback', 'caller']);
    assert.match(shown[2]!, /not shown/);
  });

  it('shows frames of packages and of the interpreter subtly when all code is asked for', () => {
    const stack = [native('add', '/app/lib.so'), ...GLUE, LOOP];
    const lines = [
      python('run', { path: '/x/site-packages/graph.py' }),
      python('hook', { path: '/ours/toolbreak/a.py' }),
    ];
    assert.deepEqual(names(stack, lines), ['add']);
    const { frames } = joinStacks(stack, { frames: lines, calls: [] }, { ...options, justMyCode: false });
    assert.deepEqual(
      frames.map(({ name, subtle }) => [name, subtle]),
      [
        ['add', false],
        ['ffi_call', true],
        ['secret', true],
        ['run', true],
      ],
    );
  });

  it('shows each call once, at the line that runs it, with the calls around it', () => {
    const task = { id: 1, name: 'main' };
    const call = { kind: 'tool', name: 'add', path: realpathSync(__filename), line: 5, endLine: 20, task };
    const args = [{ name: 'a', value: '1', type: 'int' }];
    const calls = [
      { ...call, number: 3, detail: 'tool', args, frame: 0 },
      { ...call, number: 2, kind: 'node', name: 'tools', detail: 'node, step 2', path: '/gone.py', args: [], frame: 0 },
      { ...call, number: 1, kind: 'workflow', name: 'agent', detail: 'workflow, call 1', args: [], frame: 77 },
    ];
    const lines = [python('helper', { firstLine: 30, line: 31 }), python('add'), python('main', { object: 77 })];
    const { frames } = joinStacks([native('c', '/app/lib.so'), LOOP], { frames: lines, calls }, options);
    assert.deepEqual(
      frames.map(({ name, detail, line, call: of }) => [name, detail, line, of]),
      [
        ['c', '', 1, undefined],
        ['helper', '', 31, undefined],
        ['add', '', 10, undefined],
        ['add(a=1)', 'tool', 5, 3],
        ['tools', 'node, step 2', 5, 2],
        ['agent', 'workflow, call 1', 10, 1],
      ],
    );
  });
});
