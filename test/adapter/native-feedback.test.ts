import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync, mkdirSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listProcesses } from '../../adapter/common/processes';
import { compactTrace, functionName } from '../../adapter/targets/native/backtrace';
import { runtimeFeedback, type Feedback, type FeedbackOptions } from '../../adapter/targets/native/feedback';
import { toolbreakCommand } from '../support/adapter';
import { lateDelegate } from '../support/delegateBetween';
import { Compiled, debuggers, delegates } from '../support/native';

const root = join(__dirname, '..', '..');
const BASIC = 'fixtures/native/loop_basic.c';
const STDIN = 'fixtures/native/loop_stdin.c';
const PLACES = 'fixtures/native/feedback_places.c';

const compiled = new Compiled();
after(() => compiled.remove());

/** `file:line` of a marker comment in the fixture. */
function at(marker: string, file = PLACES): string {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes(`/* BP: ${marker} */`));
  assert.ok(index >= 0, marker);
  return `${file}:${index + 1}`;
}

const values = (feedback: Feedback, key: string, name: string): string[] =>
  feedback.watchpoints[key]!.filter((one) => one.var === name).map(({ value }) => value);

for (const { name, major, path: debugPath, family } of debuggers())
  describe(`feedback with ${name}`, function () {
    this.timeout(120_000);
    let basic: string, stdin: string, places: string;
    before(() => {
      basic = compiled.program('loop_basic.c', [], `basic${major}`);
      stdin = compiled.program('loop_stdin.c', [], `stdin${major}`);
      places = compiled.program('feedback_places.c', [], `places${major}`);
    });
    const run = (command: string[], options: Partial<FeedbackOptions>): Promise<Feedback> =>
      runtimeFeedback({ command, project: root, debugger: debugPath, ...options });
    const refusal = async (command: string[], options: Partial<FeedbackOptions>): Promise<string> => {
      try {
        await run(command, options);
      } catch (error) {
        return (error as Error).message;
      }
      throw new assert.AssertionError({ message: 'it was not refused' });
    };
    /** Nothing of a program is left in the machine. */
    const noneLeft = async (program: string): Promise<void> => {
      const left = (await listProcesses()).filter((row) => !row.zombie && program.endsWith(`/${row.command}`));
      assert.deepEqual(left, []);
    };

    it('loop_basic: the running sum before and after the statement', async () => {
      const [before, behind] = [`${BASIC}:7`, `${BASIC}:8`];
      const watches = ['i', 'sum'].flatMap((expression) => [
        { location: before, expression },
        { location: behind, expression },
      ]);
      const feedback = await run([basic], { at: [before], watches });
      assert.deepEqual(values(feedback, before, 'i'), ['0', '1', '2', '3', '4']);
      assert.deepEqual(values(feedback, before, 'sum'), ['0', '0', '1', '3', '6']);
      assert.deepEqual(values(feedback, behind, 'i'), ['0', '1', '2', '3', '4']);
      assert.deepEqual(values(feedback, behind, 'sum'), ['0', '1', '3', '6', '10']);
      assert.deepEqual(feedback.breakpoints, {
        [before]: new Array(5).fill('work_basic() -> main() @ loop_basic.c:7'),
      });
      assert.deepEqual(feedback.backtraces[before]![4], [
        { function: 'work_basic', file: BASIC, line: 7 },
        { function: 'main', file: BASIC, line: 14 },
      ]);
      assert.deepEqual(feedback.watchpoints[before]!.slice(0, 2), [
        { var: 'i', value: '0' },
        { var: 'sum', value: '0' },
      ]);
      assert.deepEqual([feedback.partial, feedback.exitCode], [undefined, 0]);
      assert.deepEqual(feedback.output, { stdout: 'sum=10\n', stderr: '' });
      await noneLeft(basic);
    });

    for (const stdinBy of ['redirect', 'variable'] as const)
      it(`loop_stdin: i and acc before and after the statement, input by ${stdinBy}`, async () => {
        const input = join(compiled.folder, 'four');
        writeFileSync(input, '4\n');
        const [before, behind] = [`${STDIN}:20`, `${STDIN}:21`];
        const watches = ['i', 'acc'].flatMap((expression) => [
          { location: before, expression },
          { location: behind, expression },
        ]);
        const feedback = await run([stdin], { at: [before], watches, stdin: input, stdinBy });
        assert.deepEqual(values(feedback, before, 'i'), ['1', '2', '3', '4']);
        assert.deepEqual(values(feedback, before, 'acc'), ['1', '1', '2', '6']);
        assert.deepEqual(values(feedback, behind, 'i'), ['1', '2', '3', '4']);
        assert.deepEqual(values(feedback, behind, 'acc'), ['1', '2', '6', '24']);
        assert.deepEqual(feedback.breakpoints[before], new Array(4).fill('work_stdin() -> main() @ loop_stdin.c:20'));
        assert.deepEqual(feedback.output.stdout, 'acc=24\n');
      });

    it('without a file the input is empty, and nothing waits for a person', async () => {
      const feedback = await run([stdin], { at: [`${STDIN}:20`] });
      assert.deepEqual([feedback.breakpoints, feedback.output.stdout], [{ [`${STDIN}:20`]: [] }, 'acc=1\n']);
    });

    it('keys are as given; one line may have several names', async () => {
      const keys = [`${BASIC}:7`, `./fixtures/../${BASIC}:7`, join(root, `${BASIC}:7`)];
      const feedback = await run([basic], { at: keys, watches: [{ location: keys[1]!, expression: 'sum + i' }] });
      assert.deepEqual(
        keys.map((key) => feedback.breakpoints[key]!.length),
        [5, 5, 5],
      );
      assert.deepEqual(values(feedback, keys[1]!, 'sum + i'), ['0', '1', '3', '6', '10']);
    });

    it('what cannot be evaluated is <unavailable>, what is never reached has empty lists', async () => {
      const start = at('start');
      const feedback = await run([places], {
        at: [at('never')],
        watches: [
          { location: start, expression: 'nobody' },
          { location: start, expression: '1 +' },
          { location: start, expression: 'account.id' },
          { location: at('never'), expression: 'counter' },
        ],
      });
      assert.deepEqual(feedback.watchpoints[start], [
        { var: 'nobody', value: '<unavailable>' },
        { var: '1 +', value: '<unavailable>' },
        { var: 'account.id', value: '7' },
      ]);
      assert.deepEqual([feedback.watchpoints[at('never')], feedback.breakpoints], [[], { [at('never')]: [] }]);
      assert.equal(feedback.exitCode, 3);
    });

    it('secrets are masked, by name and by form', async () => {
      const end = at('end');
      const watches = ['password', 'account.api_key', 'account'].map((expression) => ({ location: end, expression }));
      const feedback = await run([places], { watches });
      assert.deepEqual(values(feedback, end, 'password'), ['***']);
      assert.deepEqual(values(feedback, end, 'account.api_key'), ['***']);
      assert.doesNotMatch(JSON.stringify(feedback), /sesame|sk-abc/);
    });

    const isWatchable = family === 'lldb';
    it(`a local and a global are ${isWatchable ? '' : 'not '}watched for changes`, async () => {
      const local = `sum@${BASIC}:7`;
      if (!isWatchable) {
        const told = await run([basic], { at: [`${BASIC}:7`], data: [local] });
        assert.equal(told.breakpoints[`${BASIC}:7`]!.length, 5);
        assert.equal(
          told.partial,
          `"${local}" could not be watched: gdb watches no memory over DAP. Use lldb-dap for it.`,
        );
        return;
      }
      const watched = await run([basic], { at: [`${BASIC}:7`], data: [local] });
      assert.deepEqual(
        watched.dataBreakpoints[local]!.map(({ before, value }) => [before, value]),
        [
          ['0', '1'],
          ['1', '3'],
          ['3', '6'],
          ['6', '10'],
        ],
      );
      for (const { backtrace } of watched.dataBreakpoints[local]!)
        assert.equal(backtrace, 'work_basic() -> main() @ loop_basic.c:7');
      assert.deepEqual(
        [watched.breakpoints[`${BASIC}:7`]!.length, watched.partial, watched.exitCode],
        [5, undefined, 0],
      );

      // The place behind the statement is reached by the very instruction that the change stops at.
      const behind = `${BASIC}:8`;
      const both = await run([basic], { data: [local], watches: [{ location: behind, expression: 'sum' }] });
      const passedOver = major < 20;
      assert.deepEqual(values(both, behind, 'sum'), [...(passedOver ? [] : ['0']), '1', '3', '6', '10']);
      assert.equal(
        /^Hits of loop_basic\.c:8 may be missing: lldb-dap 19 passes over/.test(both.partial ?? ''),
        passedOver,
      );
      assert.equal(both.dataBreakpoints[local]!.length, 4);

      const globals = await run([places], { data: ['counter'] });
      assert.deepEqual(
        globals.dataBreakpoints['counter']!.map(({ value }) => value),
        ['1', '5'],
      );
      assert.deepEqual([globals.partial, globals.exitCode], [undefined, 3]);

      const missing = await run([places], { data: ['nobody'] });
      assert.deepEqual(missing.mistakes, ['"nobody" could not be watched: there is no variable of that name there.']);
      assert.deepEqual([missing.partial, missing.exitCode], [undefined, 3]);
    });

    if (isWatchable)
      it('a local of a function that calls itself is watched in each of its calls', async () => {
        const recursive = compiled.program('recursive.c');
        const key = `mine@${at('deepen', 'fixtures/native/recursive.c')}`;
        const changes = async (left: string): Promise<[string[], string | undefined]> => {
          const { dataBreakpoints, partial } = await run([recursive, left], { data: [key] });
          return [dataBreakpoints[key]!.map(({ before, value }) => `${before} to ${value}`), partial];
        };
        const two = ['1 to 2', '2 to 4', '4 to 8', '3 to 11', '11 to 22'];
        assert.deepEqual(await changes('2'), [two, undefined]);
        const [deep, partial] = await changes('5');
        assert.deepEqual(deep.slice(0, 5), two);
        assert.equal(
          partial,
          `Changes of "${key}" in outer calls may be missing: the processor watches 4 places at once.`,
        );
      });

    it('a crash is told with its backtrace', async () => {
      const feedback = await run([places, 'crash'], { watches: [{ location: at('start'), expression: 'argc' }] });
      assert.deepEqual(values(feedback, at('start'), 'argc'), ['2']);
      assert.equal(feedback.crash?.signal, 'SIGSEGV');
      const cause = family === 'lldb' ? ': address not mapped to object' : '';
      assert.match(feedback.crash.text, new RegExp(`^Segmentation fault${cause}, at 0x0+ \\(SIGSEGV\\)$`));
      assert.equal(feedback.crash.backtrace, `crash() -> main() @ ${at('fault').replace(/.*\//, '')}`);
      assert.equal(feedback.exitCode, 139);
      await noneLeft(places);
    });

    it('a deep stack is cut, signals of its own are passed on, both streams are kept', async () => {
      const bottom = at('bottom');
      const deep = await run([places, 'deep'], { at: [bottom], depth: 12 });
      assert.deepEqual(deep.breakpoints[bottom], [`deep() -> deep() -> deep() -> … @ ${bottom.replace(/.*\//, '')}`]);
      assert.equal(deep.backtraces[bottom]![0]!.length, 12);
      assert.equal(deep.output.stdout, 'deep=45\n');
      const signals = await run([places, 'signals'], { at: [bottom] });
      assert.deepEqual([signals.exitCode, signals.crash, signals.partial], [3, undefined, undefined]);
      const errors = await run([places, 'errors'], { at: [bottom] });
      assert.deepEqual(errors.output, { stdout: '', stderr: 'on the other stream\n' });
    });

    it('backtraces are whole, however deep it is at each hit of a place', async () => {
      const bottom = at('bottom');
      const watches = [{ location: bottom, expression: 'level' }];
      const depths = await run([places, 'depths'], { at: [bottom], watches });
      const deep = (times: number): string[] => [...new Array<string>(times + 1).fill('deep'), 'main'];
      assert.deepEqual(
        depths.backtraces[bottom]!.map((frames) => frames.map((frame) => frame.function)),
        [2, 0, 4, 4, 0].map(deep),
      );
      assert.deepEqual(values(depths, bottom, 'level'), ['0', '0', '0', '0', '0']);
      const cut = await run([places, 'depths'], { at: [bottom], depth: 3 });
      assert.deepEqual(
        cut.backtraces[bottom]!.map((frames) => frames.map((frame) => frame.function)),
        [2, 0, 4, 4, 0].map((times) => deep(times).slice(0, 3)),
      );
    });

    it('threads that reach a place in the same moment are each told, with and without a backtrace', async () => {
      const file = 'fixtures/native/feedback_threads.c';
      const program = compiled.program('feedback_threads.c', ['-pthread'], `feedback_threads${major}`);
      const each = at('each', file);
      const watches = [{ location: each, expression: 'number' }];
      const all = [10, 11, 12, 13, 14, 20, 21, 22, 23, 24].map(String);
      const late =
        family === 'lldb' ? [{ debugger: lateDelegate(compiled.folder, { name, major, path: debugPath }) }] : [];
      for (const more of [{}, { at: [each] }, ...late]) {
        const feedback = await run([program], { watches, ...more });
        assert.deepEqual(values(feedback, each, 'number').sort(), all);
        assert.equal(feedback.partial, undefined);
        const traces = feedback.backtraces[each]?.map((frames) => frames[0]!.function) ?? [];
        assert.deepEqual(traces, 'at' in more ? new Array<string>(10).fill('work') : []);
      }
    });

    it('a program that never stops gives what came until then, marked as partial', async () => {
      const spin = at('spin');
      const feedback = await run([places, 'spin'], {
        watches: [{ location: spin, expression: 'counter' }],
        seconds: { exit: 1 },
      });
      assert.equal(feedback.partial, 'The program did not end within 1 s of the first place.');
      const seen = values(feedback, spin, 'counter');
      assert.deepEqual(seen.slice(0, 3), ['6', '7', '8']);
      assert.ok(seen.slice(0, -1).every((value) => value !== '<unavailable>'));
      await noneLeft(places);
      const nothing = await run([places, 'spin'], { at: [at('never')], seconds: { firstStop: 1 } });
      assert.equal(nothing.partial, 'No place was reached within 1 s.');
      assert.deepEqual(nothing.breakpoints, { [at('never')]: [] });
      await noneLeft(places);
    });

    it('a flood of output is cut and does no harm', async () => {
      const feedback = await run([places, 'flood'], { at: [at('start')], seconds: { exit: 1 } });
      assert.equal(feedback.breakpoints[at('start')]!.length, 1);
      assert.match(feedback.partial ?? '', /did not end/);
      assert.match(feedback.output.stdout, /^\[[\d,]+ bytes before this are left out\]\na line of many/);
      assert.ok(feedback.output.stdout.length < 70_000);
      await noneLeft(places);
    });

    it('places that cannot be bound are refused with a hint, before the program runs', async () => {
      const witness = join(compiled.folder, `witness-${name}`);
      const source = join(compiled.folder, 'witness.c');
      writeFileSync(
        source,
        `#include <stdio.h>\nint main(void) {\n    fopen("${witness}", "w");\n\n    return 0;\n}\n`,
      );
      const program = compiled.program(source, [], `witness-${name}.out`);
      assert.match(
        await refusal([program], { at: [`${source}:4`] }),
        /:4 has no code of its own\. The next line with code is .*witness\.c:5\.$/,
      );
      assert.match(
        await refusal([program], { at: [`${source}:400`] }),
        /:400 is no line of .*\. Check that the program was compiled from this file/,
      );
      assert.match(await refusal([program], { at: ['gone.c:3'] }), /^There is no file gone\.c in /);
      assert.match(
        await refusal([program], { at: [`${BASIC}:7`] }),
        /^fixtures\/native\/loop_basic\.c:7 is no line of /,
      );
      const stripped = compiled.program(source, ['-s'], `stripped-${name}`);
      const bare = compiled.program(source, ['-g0'], `bare-${name}`);
      for (const each of [stripped, bare])
        assert.match(
          await refusal([each], { at: [`${source}:3`] }),
          /has no debug information\. Compile it with -g -O0/,
        );
      assert.throws(() => readFileSync(witness), /ENOENT/);
      // A source that was taken away after compiling can still be bound.
      const away = join(compiled.folder, 'away.c');
      cpSync(source, away);
      const orphan = compiled.program(away, [], `orphan-${name}`);
      rmSync(away);
      assert.deepEqual((await run([orphan], { at: [`${away}:5`] })).breakpoints, {
        [`${away}:5`]: ['main() @ away.c:5'],
      });
    });

    it('places in a library that the program is linked with, beside its own', async () => {
      const library = compiled.program('library.c', ['-shared', '-fPIC'], `libfeedback-${name}.so`);
      const program = compiled.program('uses_library.c', [library, `-Wl,-rpath,${compiled.folder}`], `linked-${name}`);
      const scale = at('scale', 'fixtures/native/library.c');
      const use = at('use', 'fixtures/native/uses_library.c');
      const watches = [{ location: scale, expression: 'number' }];
      const feedback = await run([program], { at: [scale, use], watches, data: ['library_calls'] });
      assert.deepEqual(feedback.breakpoints, {
        [scale]: ['library_scale() -> main() @ library.c:5'],
        [use]: ['main() @ uses_library.c:7'],
      });
      assert.deepEqual(feedback.watchpoints[scale], [{ var: 'number', value: '14' }]);
      assert.equal(feedback.exitCode, 0);
      if (family === 'lldb') {
        assert.equal(feedback.partial, undefined);
        assert.deepEqual(
          feedback.dataBreakpoints['library_calls']!.map(({ before, value }) => [before, value]),
          [['0', '1']],
        );
      }
      assert.match(
        await refusal([program], { at: ['fixtures/native/library.c:400'] }),
        /^fixtures\/native\/library\.c:400 is no line of .* in a library, if that is loaded when main begins\.$/,
      );
      // What would be watched in a library that is not there.
      rmSync(library);
      const ended = await run([program], { watches });
      assert.equal(ended.partial, 'The program ended before main began, so library.c:5 was not looked for.');
    });

    it('optimized code binds where it has lines; a value that is not there is <unavailable>', async () => {
      const optimized = compiled.program('loop_basic.c', ['-O2'], `optimized-${name}`);
      const feedback = await run([optimized], {
        at: [`${BASIC}:15`],
        watches: [{ location: `${BASIC}:15`, expression: 'nothing_here' }],
      });
      assert.deepEqual(feedback.breakpoints[`${BASIC}:15`], ['main() @ loop_basic.c:15']);
      assert.equal(feedback.output.stdout, 'sum=10\n');
    });

    it('the command prints it for people and as JSON', () => {
      const toolbreak = (...args: string[]): { stdout: string; stderr: string; status: number | null } =>
        spawnSync(process.execPath, toolbreakCommand('feedback', '--lldb-dap', debugPath, ...args), {
          cwd: root,
          encoding: 'utf8',
          input: '4\n',
        });
      const watch = `${STDIN}:20=acc`;
      const plain = toolbreak('--at', `${STDIN}:20`, '--watch', watch, '--stdin', '-', '--', stdin, '--json');
      assert.deepEqual([plain.stderr, plain.status], ['', 0]);
      assert.equal(
        plain.stdout,
        `${STDIN}:20  4 hits\n  work_stdin() -> main() @ loop_stdin.c:20  × 4\n  acc  1, 1, 2, 6\nIt ended with 0.\n`,
      );
      const json = toolbreak('--at', `${STDIN}:20`, '--watch', watch, '--stdin', '-', '--json', '--', stdin);
      const feedback = JSON.parse(json.stdout) as Feedback;
      assert.deepEqual(values(feedback, `${STDIN}:20`, 'acc'), ['1', '1', '2', '6']);
      assert.equal(feedback.backtraces[`${STDIN}:20`]![0]![0]!.function, 'work_stdin');
      assert.equal(feedback.debugger, name);

      const late = toolbreak('--at', at('spin'), '--exit-timeout', '0.5', '--', places, 'spin');
      assert.equal(late.status, 1);
      assert.match(late.stderr, /^toolbreak: The result is partial: The program did not end within 0\.5 s/);
      assert.match(late.stdout, / hits\n/);
      const wrong = toolbreak('--at', 'nowhere.c:1', '--', basic);
      assert.deepEqual([wrong.status, wrong.stdout], [2, '']);
      assert.match(wrong.stderr, /^toolbreak: There is no file nowhere\.c/);
    });

    it('Ctrl-C ends it with what it has, and leaves nothing behind', async () => {
      const child = spawn(
        process.execPath,
        toolbreakCommand('feedback', '--lldb-dap', debugPath, '--json', '--at', at('start'), '--', places, 'spin'),
        { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      const said = Promise.all([text(child.stdout), text(child.stderr)]);
      const exited = once(child, 'exit');
      for (;;) {
        if ((await listProcesses()).some((row) => places.endsWith(`/${row.command}`))) break;
        await new Promise((next) => setTimeout(next, 20));
      }
      child.kill('SIGINT');
      const [code] = (await exited) as [number];
      const [, stderr] = await said;
      assert.match(stderr, /Interrupted|interrupted/);
      assert.ok(code === 130 || code === 1, String(code));
      await noneLeft(places);
    });
  });

describe('feedback: what is refused before a debugger starts', () => {
  const refused = async (options: Partial<FeedbackOptions>): Promise<string> => {
    const given = { command: [process.execPath], project: root, at: [`${BASIC}:7`], ...options };
    return runtimeFeedback(given).then(
      () => assert.fail('it was not refused'),
      (error: Error) => error.message,
    );
  };

  it('programs that cannot be run', async () => {
    assert.match(await refused({ command: ['./nothing'] }), /^The program \.\/nothing does not exist\. Compile it/);
    const script = join(compiled.folder, 'script');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    assert.match(await refused({ command: [script] }), /is no compiled program/);
    const plain = join(compiled.folder, 'plain');
    writeFileSync(plain, 'text', { mode: 0o644 });
    assert.match(await refused({ command: [plain] }), /is not executable\. If it is a program, "chmod \+x /);
    // The header of a program for a RISC-V machine.
    const header = Buffer.alloc(64);
    header.write('\x7fELF\x02\x01\x01', 'latin1');
    header.writeUInt16LE(243, 18);
    const foreign = join(compiled.folder, 'foreign');
    writeFileSync(foreign, header, { mode: 0o755 });
    assert.match(await refused({ command: [foreign] }), /was compiled for RISC-V and cannot run here/);
  });

  it('places and watches that make no sense', async () => {
    assert.match(await refused({ at: ['loop.c'] }), /^"loop\.c" is no place\. Write it as file:line/);
    assert.match(await refused({ at: ['loop.c:0'] }), /is no place/);
    const command = (...args: string[]) =>
      spawnSync(process.execPath, toolbreakCommand('feedback', ...args), { cwd: root, encoding: 'utf8' });
    const watch = command('--watch', 'sum', '--', './x');
    assert.equal(watch.status, 2);
    assert.match(watch.stderr, /"sum" is no watch\. Write it as file:line=expression/);
    assert.match(command('--', './x').stderr, /^toolbreak: Nothing is asked for\. Name lines with --at/);
    assert.match(
      command('--at', 'a.c:1', '--stdin', 'nope', '--', './x').stderr,
      /^toolbreak: The file nope does not exist\. Check --stdin\.\n$/,
    );
  });

  it('finds a debugger under any of its names, or says what to install', async () => {
    const basic = compiled.program('loop_basic.c', [], 'basic-found');
    const [first] = delegates();
    for (const name of ['lldb-dap', 'lldb-dap-19', 'lldb-vscode', 'lldb-vscode-14']) {
      const folder = join(compiled.folder, `path-${name}`);
      mkdirSync(folder);
      symlinkSync(first!.path, join(folder, name));
      const found = await runtimeFeedback({
        command: [basic],
        project: root,
        at: [`${BASIC}:7`],
        env: { ...process.env, PATH: `${folder}:/bin` },
      });
      assert.equal(found.breakpoints[`${BASIC}:7`]!.length, 5, name);
    }
    assert.match(
      await refused({ command: [basic], env: { PATH: compiled.folder } }),
      /^Native code needs lldb-dap, and none was found on the PATH\. Install it with /,
    );
    assert.match(
      await refused({ command: [basic], debugger: '/nowhere/lldb-dap' }),
      /\/nowhere\/lldb-dap is not a program/,
    );
  });
});

describe('feedback: compact backtraces', () => {
  it('names lose parameters and marks, and keep what is part of them', () => {
    const names: Record<string, string> = {
      work_basic: 'work_basic',
      'work(int)': 'work',
      '::hidden(int)': 'hidden',
      'ns::Stack<int>::push(int const&)': 'ns::Stack<int>::push',
      'ns::Stack<std::pair<int, void (*)(int)>>::size() const': 'ns::Stack<std::pair<int, void (*)(int)>>::size',
      '(anonymous namespace)::hidden(char)': '(anonymous namespace)::hidden',
      'Add::operator()(int) const': 'Add::operator()',
      'main::$_0::operator()(int) const [inlined]': 'main::$_0::operator()',
      'work(int) [opt]': 'work',
    };
    for (const [given, plain] of Object.entries(names)) assert.equal(functionName(given), plain);
  });

  it('a frame without a source has no place', () => {
    assert.equal(
      compactTrace([{ function: 'raise' }, { function: 'main', file: 'a.c', line: 3 }]),
      'raise() -> main()',
    );
    assert.equal(compactTrace([]), '');
  });
});
