import { join } from 'node:path';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { Compiled, delegates, nativeFixtures, type Delegate } from '../support/native';
import { scenes, type Scene, type Stop } from './e2e-support';

/** Line of a `BP: name` comment of a C file. */
export function lineOf(file: string, name: string): number {
  const index = readFileSync(join(nativeFixtures, file), 'utf8')
    .split('\n')
    .findIndex((text) => text.includes(`/* BP: ${name} */`));
  if (index < 0) throw new Error(`no marker ${name} in ${file}`);
  return index + 1;
}

export const ORDER = join(nativeFixtures, 'order.c');

/** What a native scene has beside that of a session: the compiler's products, one delegate. */
export interface Native {
  s: Scene;
  delegate: Delegate;
  compiled: Compiled;
  /** Launches `order` with dots on its markers. */
  order(args: string[], dots: (string | DotOf)[], more?: Record<string, unknown>): Promise<DebugProtocol.Breakpoint[]>;
  /** The next stop, with frames. */
  stop(): Promise<Stop>;
  step(how: 'next' | 'stepIn' | 'stepOut', stop: Stop, granularity?: DebugProtocol.SteppingGranularity): Promise<Stop>;
  go(stop: Stop): Promise<void>;
}
export type DotOf = Omit<DebugProtocol.SourceBreakpoint, 'line'> & { at: string };

/** `describe` for every delegate there is, or for these, with a fresh session for each test. */
export function nativeScenes(title: string, body: (native: () => Native) => void, found = delegates()): void {
  const compiled = new Compiled();
  after(() => compiled.remove());
  for (const delegate of found)
    scenes(`${title}: ${delegate.name}`, (scene) => body(() => native(scene(), delegate, compiled)));
}

function native(s: Scene, delegate: Delegate, compiled: Compiled): Native {
  const stop = async (): Promise<Stop> => {
    const body = await s.client.waitFor('stopped');
    const frames = await s.client.frames(body.threadId!);
    return { client: s.client, threadId: body.threadId!, body, frames, top: frames[0]!, name: frames[0]!.name };
  };
  return {
    s,
    delegate,
    compiled,
    stop,
    async order(args, dots, more = {}) {
      const program = compiled.program('order.c');
      let answer: DebugProtocol.Breakpoint[] = [];
      const breakpoints = dots.map((dot) => {
        const { at, ...rest } = typeof dot === 'string' ? { at: dot } : dot;
        return { ...rest, line: lineOf('order.c', at) };
      });
      await s.client.launch({ program, args, cwd: nativeFixtures, lldbDap: delegate.path, ...more }, async () => {
        answer = (await s.client.request('setBreakpoints', { source: { path: ORDER }, breakpoints })).breakpoints;
      });
      return answer;
    },
    async step(how, before, granularity) {
      await s.client.request(how, { threadId: before.threadId, ...(granularity ? { granularity } : {}) });
      return stop();
    },
    async go({ threadId }) {
      await s.client.request('continue', { threadId });
    },
  };
}

/** A program that speaks as much DAP as the test wants. */
export function standIn(s: Scene, name: string, body: string): string {
  const path = join(s.place.folder, name);
  const text = `#!${process.execPath}
const send = (message) => {
  const body = Buffer.from(JSON.stringify(message));
  process.stdout.write(Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\\r\\n\\r\\n'), body]));
};
const answer = (request, body = {}) =>
  send({ seq: 0, type: 'response', request_seq: request.seq, command: request.command, success: true, body });
let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (;;) {
    const match = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(rest.toString('latin1'));
    if (!match || rest.length < match[0].length + Number(match[1])) return;
    const end = match[0].length + Number(match[1]);
    const request = JSON.parse(rest.toString('utf8', match[0].length, end));
    rest = rest.subarray(end);
    on(request);
  }
});
process.stdin.on('end', () => process.exit(0));
${body}
`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
