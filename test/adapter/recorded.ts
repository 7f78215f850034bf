import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runsFolder } from '../../adapter/common/paths';
import { Recording } from '../../adapter/store/recording';
import { toolbreakCommand } from '../support/adapter';
import { Float, Tagged, Tuple } from '../../adapter/store/values/model';
import { SpoolFile, dict } from '../support/spool';

export interface SessionEvent {
  name: string;
  data: Record<string, unknown>;
  /** Nanoseconds on the wall clock. */
  wall: bigint;
}

/** A project with a state folder of its own, and runs in it that went through the real reading and writing. */
export class RecordedProject {
  readonly root = mkdtempSync(join(tmpdir(), 'toolbreak-test-'));
  readonly project = join(this.root, 'shop');
  readonly state = join(this.root, 'state');
  readonly folder: string;

  constructor() {
    mkdirSync(this.project);
    this.folder = runsFolder(this.project, join(this.state, 'toolbreak'));
  }

  fileOf(run: string): string {
    return join(this.folder, `${run}.db`);
  }

  /** Records these segments as a run that has ended; answers its file. */
  record(
    run: string,
    segments: readonly SpoolFile[],
    events: readonly SessionEvent[] = [],
    folder = this.folder,
  ): string {
    const { recording } = this.begin(run, segments, events, folder);
    recording.finish(undefined);
    recording.close();
    return join(folder, `${run}.db`);
  }

  /** The same, of a run that goes on: whoever asked for it closes the recording. */
  begin(
    run: string,
    segments: readonly SpoolFile[],
    events: readonly SessionEvent[] = [],
    folder = this.folder,
  ): { recording: Recording; spool: string; file: string } {
    const spool = join(this.root, 'spools', run);
    const file = join(folder, `${run}.db`);
    mkdirSync(spool, { recursive: true });
    mkdirSync(dirname(file), { recursive: true });
    for (const segment of segments) segment.write(spool);
    const options = { runFile: file, spoolFolder: spool, run, session: 's', name: 'app.py' };
    const recording: Recording = new Recording(options, () => recording.nextIndex());
    while (recording.pass().more);
    for (const { name, data, wall } of events)
      recording.write((writer) => writer.sessionEvent(name, undefined, data, wall));
    return { recording, spool, file };
  }

  /** The `toolbreak` command, in the project's folder, with lines as for a terminal, unless `COLUMNS` says otherwise. */
  toolbreak(...args: string[]): { stdout: string; stderr: string; status: number | null } {
    const env = {
      COLUMNS: '100',
      ...process.env,
      XDG_STATE_HOME: this.state,
      HOME: this.root,
      LOCALAPPDATA: this.state,
    };
    const command = toolbreakCommand(...args);
    const { stdout, stderr, status } = spawnSync(process.execPath, command, {
      cwd: this.project,
      env,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      timeout: 30_000,
    });
    return { stdout, stderr, status };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const message = (type: string, content: string): Tagged =>
  new Tagged('object', [`langchain_core.messages.${type}`, dict({ content }), null]);

/** A support agent: a node with state, a tool that was held and edited, a tool that failed, a call that takes long. Times from 10 s on. */
export function agentSpool(): SpoolFile {
  const seconds = (time: number): number => Math.round(time * 1e9);
  const before = dict({ messages: [message('HumanMessage', 'please refund order 7')], verdict: '', visits: ['start'] });
  const after = dict({
    messages: [message('HumanMessage', 'please refund order 7'), message('AIMessage', 'done')],
    verdict: 'scored',
    visits: ['start', 'agent'],
  });
  return new SpoolFile('4000001-abc')
    .add(1, 1, 'workflow', 'support_agent', 'triage.build', 'triage', '/app/triage.py', 70, 80)
    .add(1, 2, 'node', 'tools', 'triage.tools', 'triage', '/app/triage.py', 61, 65)
    .add(1, 3, 'tool', 'lookup_order', 'triage.lookup_order', 'triage', '/app/shop/tools.py', 12, 20)
    .add(1, 4, 'tool', 'refund', 'triage.refund', 'triage', '/app/shop/tools.py', 30, 40)
    .add(2, 1, 'support_agent', 0)
    .add(2, 2, 'support_agent › check_stock', 1)
    .add(3, 1, 0, 1, 1, seconds(10), dict({ question: 'please refund order 7' }), null)
    .add(3, 2, 1, 2, 1, seconds(11), before, null)
    .add(5, 2, seconds(11.1), 'before', before)
    .add(3, 3, 2, 3, 1, seconds(12), dict({ order_id: 7, region: 'eu', key: new Tagged('masked', ['a secret']) }), null)
    .add(
      6,
      seconds(12.1),
      'held',
      3,
      dict({ boundary: 'before', reason: 'breakpoint', description: 'Paused before tool' }),
    )
    .add(6, seconds(12.5), 'edited', 3, dict({ text: 'lookup_order: order_id 7 → 70 (edited)', client: 'vscode' }))
    .add(6, seconds(13), 'resumed', 3, dict({ why: 'release', client: 'vscode' }))
    .add(4, 3, seconds(14), 0, dict({ state: 'sent', price: new Float(3), lines: [dict({ 'a b': 'x"y' })] }), null)
    .add(3, 4, 2, 4, 2, seconds(14), dict({ amount: 700 }), null)
    .add(4, 4, seconds(14.003), 1, failure, null)
    .add(5, 2, seconds(15.5), 'after', after)
    .add(4, 2, seconds(16), 0, after, dict({ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 }))
    .add(3, 5, 1, 3, 1, seconds(17), dict({ order_id: 8, region: 'us' }), null)
    .add(4, 5, seconds(17.0005), 0, null, null)
    .add(4, 1, seconds(20), 0, after, null);
}

const failure = new Tagged('error', [
  'shop.errors.ApprovalNeeded',
  'amount 700 needs approval',
  [new Tuple(['/app/shop/tools.py', 33, 'refund'])],
  null,
  dict({ limit: 500 }),
]);

/** What the session saw of that run; its time 0 is the segment's. */
export const AGENT_EVENTS: readonly SessionEvent[] = [
  { name: 'output', data: { category: 'stdout', text: 'looking up order 7\n' }, wall: 1_700_000_012_000_000_000n },
  { name: 'crashed', data: { process: 1 }, wall: 1_700_000_019_000_000_000n },
];
