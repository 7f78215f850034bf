import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutTemplates } from '../../adapter/targets/native/backtrace';
import type { Feedback } from '../../adapter/targets/native/feedback';
import { toolbreakCommand } from '../support/adapter';
import { Compiled, delegates, nativeFixtures } from '../support/native';

const root = join(__dirname, '..', '..');
const VALUES = 'fixtures/native/feedback_values.cpp';
const compiled = new Compiled();
after(() => compiled.remove());

function toolbreak(...args: string[]): { stdout: string; stderr: string; status: number | null } {
  return spawnSync(process.execPath, toolbreakCommand('feedback', ...args), { cwd: root, encoding: 'utf8', input: '' });
}

/** `file:line` of a marker comment in a fixture. */
function at(file: string, marker: string): string {
  const lines = readFileSync(join(nativeFixtures, file), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes(`/* BP: ${marker} */`));
  assert.ok(index >= 0, marker);
  return `fixtures/native/${file}:${index + 1}`;
}

for (const { name, major, path } of delegates())
  describe(`feedback for people with ${name}`, function () {
    this.timeout(120_000);
    let values: string, places: string;
    before(() => {
      values = compiled.program('feedback_values.cpp', [], `values${major}`);
      places = compiled.program('feedback_places.c', [], `places${major}`);
    });
    const feedback = (...args: string[]) => toolbreak('--lldb-dap', path, ...args);

    it('structs and arrays show what is in them, bounded and masked', () => {
      const here = at('feedback_values.cpp', 'values');
      const names = ['point', 'shape', 'grid', 'many', 'text', 'shape.next', 'secret_key'];
      const { stdout, status } = feedback('--json', ...names.flatMap((one) => ['--watch', `${here}=${one}`]), values);
      assert.equal(status, 0);
      const seen = (JSON.parse(stdout) as Feedback).watchpoints[here]!.map((one) => one.value);
      assert.deepEqual(seen.slice(0, 1), ['{x = 1, y = 2}']);
      assert.match(
        seen[1]!,
        /^\{from = \{x = 1, y = 2\}, to = \{x = 3, y = 4\}, name = 0x[0-9a-f]+ "line", api_key = \*\*\*, next = 0x[0-9a-f]+\}$/,
      );
      assert.deepEqual(seen.slice(2, 5), [
        '{{1, 2}, {3, 4}, {5, 6}}',
        `{${new Array(16).fill('0').join(', ')}, …}`,
        '"hello"',
      ]);
      // A pointer is where it leads to, not what is there.
      assert.match(seen[5]!, /^0x[0-9a-f]+$/);
      // The parts of a secret have no names that tell.
      assert.equal(seen[6], '***');
    });

    it('a change names the line that made it, and what was before', () => {
      const from = at('feedback_values.cpp', 'after part');
      const writer = Number(from.split(':')[1]) - 1;
      const several = feedback('--data', `part@${from}`, '--data', 'total', '--data', `count@${from}`, values);
      assert.deepEqual([several.stderr, several.status], ['', 0]);
      assert.equal(
        several.stdout,
        [
          `part@${from}  never changed`,
          'total  1 change',
          `  0 -> 106  by sum() -> main() @ feedback_values.cpp:${writer + 1}`,
          `count@${from}  never changed`,
          'It ended with 0.',
          '',
        ].join('\n'),
      );
    });

    it('what cannot be watched is said, and that it was not', () => {
      const here = at('feedback_values.cpp', 'values');
      const wrong = feedback('--data', 'nobody', '--data', `many@${here}`, '--data', `text[0]@${here}`, values);
      assert.equal(wrong.status, 2);
      assert.equal(
        wrong.stdout,
        `nobody  not watched\nmany@${here}  not watched\ntext[0]@${here}  never changed\nIt ended with 0.\n`,
      );
      assert.equal(
        wrong.stderr,
        'toolbreak: "nobody" could not be watched: there is no variable of that name there.\n' +
          `toolbreak: "many@${here}" could not be watched: it takes 400 bytes, and 8 is the most. Name a part of it, such as many.part or many[0].\n`,
      );
    });

    it('an expression that makes no sense is told once, with its place', () => {
      const here = at('feedback_values.cpp', 'after part');
      const wrong = feedback(
        '--watch',
        `${here}=nobody`,
        '--watch',
        `${here}=part +`,
        '--watch',
        `${here}=part`,
        values,
      );
      assert.equal(wrong.status, 2);
      assert.match(wrong.stdout, /nobody +<unavailable>, <unavailable>, <unavailable>\n/);
      assert.match(wrong.stdout, /part +106, 106, 106\n/);
      assert.equal(
        wrong.stderr,
        `toolbreak: "nobody" has no value at ${here}: Use of undeclared identifier 'nobody'.\n` +
          `toolbreak: "part +" has no value at ${here}: Expected expression.\n`,
      );
    });

    it('a backtrace is marked where it was cut, and names of templates are short', () => {
      const push = at('feedback_values.cpp', 'push');
      const short = feedback('--at', push, values);
      const file = push.replace(/.*\//, '');
      assert.equal(
        short.stdout,
        `${push}  1 hit\n  Stack<…>::push() -> level() -> level() -> … @ ${file}\nIt ended with 0.\n`,
      );
      const whole = JSON.parse(feedback('--json', '--at', push, '--depth', '2', values).stdout) as Feedback;
      assert.match(
        whole.breakpoints[push]![0]!,
        /^Stack<std::pair<.*>>::push\(\) -> level\(\) -> … @ feedback_values\.cpp:\d+$/,
      );
    });

    it('a crash is told with what the program ended with', () => {
      const start = at('feedback_places.c', 'start');
      const crash = feedback('--at', start, places, 'crash');
      assert.equal(crash.status, 0);
      assert.match(
        crash.stdout,
        /\nIt crashed\. Segmentation fault: address not mapped to object, at 0x0 \(SIGSEGV\): crash\(\) -> main\(\) @ feedback_places\.c:\d+\nIt ended with 139 \(SIGSEGV\)\.\n$/,
      );
      const json = JSON.parse(feedback('--json', '--at', start, places, 'crash').stdout) as Feedback;
      assert.equal(json.exitCode, 139);
    });

    it('a line without code, and one of another program, end with 2', () => {
      const [file, line] = at('feedback_values.cpp', 'values').split(':');
      const empty = feedback('--at', `${file}:${Number(line) + 1}`, values);
      assert.deepEqual([empty.status, empty.stdout], [2, '']);
      assert.match(empty.stderr, /^toolbreak: .*:\d+ has no code of its own\. The next line with code is .*:\d+\.$/m);
      const foreign = feedback('--at', `${VALUES}:9999`, values);
      assert.deepEqual([foreign.status, foreign.stdout], [2, '']);
      assert.match(foreign.stderr, /^toolbreak: .*:9999 is no line of /);
    });
  });

describe('feedback: its exit codes', () => {
  it('are in the help', () => {
    assert.match(toolbreak('--help').stdout, /Ends with\n {2}0 [^]*\n {2}1 [^]*\n {2}2 [^]*\n {2}130 /);
  });

  it('are 2 for what is not there, with a sentence', () => {
    const [source, text] = [join(compiled.folder, 'app.c'), join(compiled.folder, 'text')];
    writeFileSync(source, 'int main(void) { return 0; }\n');
    writeFileSync(text, '#!/bin/sh\n', { mode: 0o755 });
    const wrong: [string[], RegExp][] = [
      [['--at', 'a.c:1', './nothing'], /^The program \.\/nothing does not exist\. Compile it first/],
      [['--at', 'a.c:1', compiled.folder], /is a folder\. Name the program itself\.$/],
      [['--at', 'a.c:1', text], /text is no compiled program\. /],
      [
        ['--at', 'a.c:1', source],
        /app\.c is a source file\. Compile it with debug information, .*gcc -g -O0 .*app\.c -o .*app/,
      ],
      [['--at', 'a.c', process.execPath], /^"a\.c" is no place\./],
      [['--at', 'a.c:1', '--stdin', 'nope', process.execPath], /^The file nope does not exist\. Check --stdin\.$/],
      [[process.execPath], /^Nothing is asked for\./],
    ];
    for (const [args, expected] of wrong) {
      const { status, stdout, stderr } = toolbreak(...args);
      assert.deepEqual([status, stdout], [2, ''], args.join(' '));
      assert.match(stderr.replace(/^toolbreak: /, '').trimEnd(), expected);
    }
  });

  it('are 1 without a debugger, and the sentence names the option', () => {
    const none = spawnSync(process.execPath, toolbreakCommand('feedback', '--at', 'a.c:1', process.execPath), {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH: compiled.folder },
    });
    assert.equal(none.status, 1);
    assert.match(
      none.stderr,
      /^toolbreak: Native code needs lldb-dap, .*Install it with ".*or name it with --lldb-dap\.\n$/,
    );
    const folder = toolbreak('--lldb-dap', compiled.folder, '--at', 'a.c:1', process.execPath);
    assert.equal(folder.status, 2);
    assert.match(folder.stderr, /is a folder\. Check --lldb-dap\.\n$/);
  });
});

describe('feedback: names of templates', () => {
  it('are short, and operators stay', () => {
    const names: Record<string, string> = {
      'a() -> b() @ c.cpp:3': 'a() -> b() @ c.cpp:3',
      'Stack<std::pair<int, int>>::push() -> main()': 'Stack<…>::push() -> main()',
      'operator<<<char>() -> operator->() -> A<int>::operator<() -> B::operator<=>()':
        'operator<<<…>() -> operator->() -> A<…>::operator<() -> B::operator<=>()',
    };
    for (const [given, short] of Object.entries(names)) assert.equal(withoutTemplates(given), short);
  });
});
