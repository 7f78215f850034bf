import assert from 'node:assert/strict';
import type { CallDetail, ReaderMethods } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { rows, type Setup } from './e2e-support';
import { mixedScenes, prices } from './native-mixed-support';

/** A program, or a library, that a tool ends in. */
const FAILS = `
int *nowhere = (int *)16;

int fail(int value) {
  *nowhere = value; // # BP: fail
  return value;
}

int main(int argc, char **argv) {
  int result = fail(argc);
  return result; // # BP: end
}
`;

/** It survives the same fault again and again. */
const RECOVERS = `
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
int *nowhere = (int *)16;

static void recover(int number) {
  siglongjmp(back, number);
}

int survive(int times) {
  struct sigaction action = {.sa_handler = recover};
  sigaction(SIGSEGV, &action, 0);
  for (volatile int n = 0; n < times; n++)
    if (sigsetjmp(back, 1) == 0) *nowhere = n; // # BP: fault
  return times;
}
`;

/** What a tool starts, or calls beside a library that it loaded before. */
const APP = `
import ctypes, subprocess, sys
import toolbreak

@toolbreak.tool
def work(way, native, other): # BP: work
    if way == "program":
        done = subprocess.run([native])
        return done.returncode
    ctypes.CDLL(other)
    if way == "recovers":
        return ctypes.CDLL(native).survive(4)
    return ctypes.CDLL(native).fail(1)

print(work(*sys.argv[1:]))
`;

type Found = ReaderMethods['search']['result'];

interface Crash {
  signal: string;
  address: string;
  backtrace: string[];
  registers: object;
}

mixedScenes('A crash in C under a Python tool', (scene) => {
  async function crashes(setup: Setup, args: string[]): Promise<void> {
    const s = scene();
    await s.launch('', '', setup, { program: s.scene.app('app.py', APP), args });
    const held = await s.scene.stop();
    assert.equal(held.body.reason, 'exception');
    assert.match(held.body.text ?? '', /SIGSEGV/);
    assert.equal(held.top.name, 'fail');
    assert.ok(
      held.frames.some(({ name }) => /^work\(.*tool/.test(name)),
      JSON.stringify(held.frames.map(({ name }) => name)),
    );
    const info = await s.client.request('exceptionInfo', { threadId: held.threadId });
    assert.equal(info.exceptionId, 'SIGSEGV');
    await s.go(held);
  }

  async function recorded(state: string): Promise<void> {
    const s = scene();
    const file = await s.scene.recording();
    const events = rows<{ data: string }>(file, "SELECT data FROM events WHERE name = 'crash'");
    assert.equal(events.length, 1);
    // The timeline shows it at the tool call, with the way there.
    const reader = new Reader(() => undefined);
    try {
      const { calls } = reader.handle('search', { file, text: 'work', limit: 10 }) as Found;
      const tool = calls.find(({ kind }) => kind === 'tool')!;
      assert.equal(tool.state, state);
      const { events: told } = reader.handle('call', { file, id: tool.id }) as CallDetail;
      assert.ok(
        told.some(({ text }) => /^Held: .*SIGSEGV/.test(text)),
        JSON.stringify(told),
      );
      assert.ok(
        told.some(({ text }) => /^Crash: .*SIGSEGV.* fail @ .*fails\.c:\d+/.test(text)),
        JSON.stringify(told),
      );
    } finally {
      reader.close();
    }
    const { signal, address, backtrace, registers } = JSON.parse(events[0]!.data) as Crash;
    assert.deepEqual([signal, address], ['SIGSEGV', '0x10']);
    assert.match(backtrace[0]!, /^fail @ .*fails\.c:\d+$/);
    assert.ok(Object.keys(registers).length > 8);
  }

  it('of a program that the tool started: the stop and the record, and the tool gets its end', async () => {
    const s = scene();
    const source = s.scene.place.file('fails.c', FAILS);
    await crashes({ dots: { [source]: ['end'] } }, ['program', s.compiled.program(source, [], 'fails'), '']);
    assert.equal(await s.scene.exit(), '-11\n');
    await recorded('returned');
  });

  it('that the library recovers from is told each time', async () => {
    const s = scene();
    const source = s.scene.place.file('recovers.c', RECOVERS);
    const library = s.compiled.program(source, ['-shared', '-fPIC'], 'recovers.so');
    const args = ['recovers', library, s.library()];
    await s.launch('', '', { dots: { [prices]: ['add'] } }, { program: s.scene.app('app.py', APP), args });
    for (let times = 0; times < 4; times++) {
      const held = await s.scene.stop();
      assert.match(held.body.text ?? '', /SIGSEGV/);
      const inside = held.frames.find(({ name }) => name === 'survive')!;
      const seen = await s.client.request('evaluate', { expression: 'n', frameId: inside.id, context: 'watch' });
      assert.equal(seen.result, String(times));
      await s.go(held);
    }
    assert.equal(await s.scene.exit(), '4\n');
  });

  it('of a library without a breakpoint, while a breakpoint stands in another', async () => {
    const s = scene();
    const source = s.scene.place.file('fails.c', FAILS);
    const library = s.compiled.program(source, ['-shared', '-fPIC'], 'fails.so');
    await crashes({ dots: { [prices]: ['add'] } }, ['library', library, s.library()]);
    assert.equal((await s.client.waitFor('exited')).exitCode, 139);
    await s.client.waitFor('terminated');
    // It did stop where it happens.
    assert.match(
      s.client.output['important'] ?? '',
      /was ended by SIGSEGV, a fault in native code.*\. What was recorded/,
    );
    await recorded('error');
  });

  it('of a library, without any breakpoint, where native faults are to stop', async () => {
    const s = scene();
    const library = s.compiled.program(s.scene.place.file('fails.c', FAILS), ['-shared', '-fPIC'], 'fails.so');
    await crashes({ exceptions: ['uncaught', 'fault'] }, ['library', library, s.library()]);
    assert.equal((await s.client.waitFor('exited')).exitCode, 139);
    await s.client.waitFor('terminated');
    await recorded('error');
  });

  it('of a library in an app that runs already, from when native faults are to stop', async () => {
    const s = scene();
    const library = s.compiled.program(s.scene.place.file('fails.c', FAILS), ['-shared', '-fPIC'], 'fails.so');
    const program = s.scene.app('app.py', APP);
    await s.launch('', '', { dots: { [program]: ['work'] } }, { program, args: ['library', library, s.library()] });
    const held = await s.scene.stop();
    await s.client.request('setExceptionBreakpoints', { filters: ['fault'] });
    await s.go(held);
    assert.match((await s.scene.stop()).body.text ?? '', /SIGSEGV/);
  });
});
