import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { FrameKind } from '../../../protocol/spool';
import { withCommas } from '../../../protocol/withCommas';
import { UserError } from '../../common/errors';
import { Masker } from '../../common/masker';
import { globalId } from '../callNames';
import { closePlain, openForWriting, type Connection } from '../database';
import { MarshalReader } from '../spool/marshal';
import type { Segment } from '../spool/follower';
import type { Frame } from '../spool/frames';
import { LATEST, RunWriter } from '../writer';
import { DEEPEST, marshal, numberIn, RecordedErrorValue, type Told } from './marshalWriter';
import { idOf, readDocuments, TOO_LONG } from './otlpDocuments';
import { readSpan, STILL_RAN, type SpanCall } from './otlpSpan';
import { attributesIn, nanoseconds, type Fields } from './otlpValue';

const MOST_SPANS = 1_000_000;
const BATCH = 1000;
const LONGEST_PATH = 4096;
/** Nanoseconds that a run can last. */
const FARTHEST = BigInt(LATEST);
const FARTHEST_DAYS = FARTHEST / 86_400_000_000_000n;
/** All that is written, and what a call has around its values. */
const MASKED_LEVELS = DEEPEST + 10;

/**
 * Makes a run file at `made` of OTLP JSON: one `TracesData`, or one a line. All spans become calls of one process, since a span's parent may be in
 * another one. A parent that is missing, or a span's own descendant, is none. Answers what was left out, in a sentence each, and how often. Throws a
 * `UserError`.
 */
export async function readOtlp(source: string, made: string): Promise<ReadonlyMap<string, number>> {
  const db = openForWriting(made);
  try {
    const masker = new Masker({ maskKeys: [], maskPatterns: [] });
    const staged = new Staged(db, masker);
    await readDocuments(source, {
      take: (document) => staged.add(document),
      fail: (why) => staged.leaveOut(why),
    });
    const range = staged.range();
    if (range === undefined)
      throw new UserError(
        staged.problems.size === 0
          ? `${source} holds no spans of OTLP JSON.`
          : `${source} holds no spans of OTLP JSON that can be read: ${[...staged.problems.keys()].join('; ')}.${staged.problems.has(TOO_LONG) ? '' : ' Perhaps it is cut off.'}`,
      );
    staged.order();
    const writer = new RunWriter(db, {
      run: staged.runId(range.first),
      session: 'import',
      name: staged.name,
      // It says what the run is called, whoever gave the name.
      isNamed: staged.isOwn,
      // Whoever admits it gives it one.
      number: 0,
      pid: 0,
      pidStart: '',
      started: range.first,
    });
    const lost = write(writer, staged, range.first, masker);
    const { name, pid, version, executable, folder, argv } = staged.process;
    db.prepare(
      `UPDATE processes SET name = ?, language = ?, pid_start = '', pid = ?, language_version = ?, executable = ?, cwd = ?, argv = ? WHERE id = 1`,
    ).run(
      name ?? staged.name,
      staged.language,
      pid ?? 0,
      version ?? null,
      executable ?? null,
      folder ?? null,
      argv ?? null,
    );
    writer.transaction(() => {
      writer.processEnded(1, undefined, range.last, undefined, lost);
      writer.end(range.last);
    });
    staged.drop();
    return staged.problems;
  } finally {
    closePlain(db);
  }
}

interface StagedSpan {
  id: number;
  parent: number | null;
  start: bigint;
  end: bigint;
  service: string;
  /** Which of those that the resources tell of. */
  process: bigint;
  json: string;
}

/** What tells one process from another; a container's has the pid 1, as others have. */
const WHOSE = ['service.name', 'service.instance.id', 'host.id', 'host.name', 'container.id', 'k8s.pod.uid'];

/** What a resource says of its process. */
interface ToldProcess {
  whose?: string;
  name?: string;
  pid?: number;
  version?: string;
  executable?: string;
  folder?: string;
  /** A list in JSON. */
  argv?: string;
}

/** Spans by their id, in a table of this connection alone: there may be more of them than memory should hold. */
class Staged {
  name = 'imported';
  language: string | null = null;
  /** Nothing where the spans are of several: they become calls of one. */
  process: ToldProcess = {};
  private run: string | undefined;
  private count = 0;
  readonly problems = new Map<string, number>();
  private readonly processes = new Map<string, number>();
  private readonly insert;

  constructor(
    private readonly db: Connection,
    private readonly masker: Masker,
  ) {
    db.exec(
      `CREATE TEMP TABLE spans (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, parent_key TEXT, parent INTEGER, depth INTEGER, number INTEGER,
         start INTEGER NOT NULL, end INTEGER NOT NULL, service TEXT NOT NULL, process INTEGER NOT NULL, json TEXT NOT NULL)`,
    );
    this.insert = db.prepare(
      'INSERT INTO spans (key, parent_key, start, end, service, process, json) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
  }

  /** Whether our own export wrote it. */
  get isOwn(): boolean {
    return this.run !== undefined;
  }

  leaveOut(why: string, times = 1): void {
    if (times > 0) this.problems.set(why, (this.problems.get(why) ?? 0) + times);
  }

  add(document: Fields): void {
    const resources = resourcesIn(document);
    if (resources.length === 0) return;
    this.db.transaction(() => {
      for (const resource of resources) {
        const about = attributesIn((resource['resource'] as Fields | undefined)?.['attributes']);
        const told = (name: string, longest = 200): string | undefined => {
          const value = about.get(name);
          // Whoever wrote it need not have masked it; what is cut off may be what tells a secret.
          return typeof value === 'string' && value !== '' ? this.masker.text(value).slice(0, longest) : undefined;
        };
        const service = told('service.name') ?? 'service';
        if (this.count === 0) {
          this.name = service;
          this.run = told('toolbreak.run');
          this.language = told('telemetry.sdk.language') ?? null;
        }
        const before = this.count;
        const process = this.processOf(about, told);
        const whose = `${process.whose} ${process.pid}`;
        const number = this.processes.get(whose) ?? this.processes.size + 1;
        this.processes.set(whose, number);
        for (const scope of list(resource['scopeSpans'] ?? resource['instrumentationLibrarySpans']))
          for (const span of list(scope['spans'])) this.span(span, service, number);
        if (this.count === before) continue;
        if (before === 0) this.process = process;
        else if (!isDeepStrictEqual(this.process, process)) this.process = {};
      }
    })();
  }

  private processOf(
    about: ReadonlyMap<string, Told>,
    told: (name: string, longest?: number) => string | undefined,
  ): ToldProcess {
    const pid = numberIn(about.get('process.pid'));
    const args = about.get('process.command_args');
    const [name, version, executable, folder] = [
      told('toolbreak.process'),
      told('process.runtime.version'),
      told('process.executable.path', LONGEST_PATH),
      told('process.working_directory', LONGEST_PATH),
    ];
    return {
      whose: JSON.stringify(WHOSE.map((name) => told(name))),
      ...(name !== undefined && { name }),
      ...(pid !== undefined && Number.isSafeInteger(pid) && pid > 0 && { pid }),
      ...(version !== undefined && { version }),
      ...(executable !== undefined && { executable }),
      ...(folder !== undefined && { folder }),
      ...(Array.isArray(args) && {
        argv: JSON.stringify(this.masker.arguments(args.filter((one) => typeof one === 'string'))),
      }),
    };
  }

  private span(span: Fields, service: string, process: number): void {
    const [trace, id] = [idOf(span['traceId'], 32), idOf(span['spanId'], 16)];
    const above = idOf(span['parentSpanId'], 16);
    const start = nanoseconds(span['startTimeUnixNano']);
    if (trace === undefined || id === undefined) return this.leaveOut('a span has no id');
    if (start === undefined) return this.leaveOut('a span has no start');
    if (this.count >= MOST_SPANS)
      throw new UserError(`There are more than ${withCommas(MOST_SPANS)} spans. Import a part of them.`);
    const told = nanoseconds(span['endTimeUnixNano']);
    const end = told === undefined || told < start ? start : told;
    const parent = above === undefined ? null : `${trace}/${above}`;
    const key = `${trace}/${id}`;
    let json: string;
    try {
      json = JSON.stringify(span);
    } catch {
      return this.leaveOut('a span is nested too deeply');
    }
    const { changes } = this.insert.run(key, parent, start, end, service, process, json);
    if (changes === 0) return this.leaveOut('two spans have one id');
    if (told !== end) this.leaveOut(told === undefined ? 'a span has no end' : 'a span ends before it begins');
    this.count++;
  }

  /** When the run begins and ends. What lies too far from most of the spans for one run is left out: a clock may be wrong. */
  range(): { first: bigint; last: bigint } | undefined {
    if (this.count === 0) return undefined;
    const whole = this.wholeRange();
    if (whole.last - whole.first <= FARTHEST) return whole;
    const first = this.busiest();
    const last = first + FARTHEST;
    const { db } = this;
    const left = db.prepare('DELETE FROM spans WHERE start NOT BETWEEN ? AND ?').run(first, last).changes;
    this.leaveOut(`a span lies more than ${FARTHEST_DAYS} days from most of the others`, left);
    const ends = db.prepare('UPDATE spans SET end = start WHERE end > ?').run(last).changes;
    this.leaveOut(`a span ends more than ${FARTHEST_DAYS} days behind the first`, ends);
    return this.wholeRange();
  }

  private wholeRange(): { first: bigint; last: bigint } {
    return this.db.prepare('SELECT min(start) AS first, max(end) AS last FROM spans').safeIntegers().get() as {
      first: bigint;
      last: bigint;
    };
  }

  /** The start from which on the most spans begin within the time that a run can have. */
  private busiest(): bigint {
    return this.db
      .prepare(
        `SELECT start FROM (SELECT start, count(*) OVER (ORDER BY start RANGE BETWEEN CURRENT ROW AND ${FARTHEST} FOLLOWING) AS near FROM spans)
         ORDER BY near DESC, start DESC LIMIT 1`,
      )
      .pluck()
      .safeIntegers()
      .get() as bigint;
  }

  /** Finds parents, breaks circles, and numbers the spans by their start, a parent before its children. */
  order(): void {
    const { db } = this;
    db.exec(
      'UPDATE spans SET parent = (SELECT p.id FROM spans p WHERE p.key = spans.parent_key) WHERE parent_key IS NOT NULL',
    );
    const find = db.prepare<[number], { parent: number | null; depth: number | null }>(
      'SELECT parent, depth FROM spans WHERE id = ?',
    );
    const note = db.prepare('UPDATE spans SET depth = ? WHERE id = ?');
    const cut = db.prepare('UPDATE spans SET parent = NULL WHERE id = ?');
    db.transaction(() => {
      for (const id of db.prepare('SELECT id FROM spans ORDER BY id').pluck().all() as number[]) {
        const path: number[] = [];
        const seen = new Set<number>();
        let depth = -1;
        for (let at: number | null = id; at !== null;) {
          const row: { parent: number | null; depth: number | null } = find.get(at)!;
          if (row.depth !== null) {
            depth = row.depth;
            break;
          }
          seen.add(at);
          path.push(at);
          if (row.parent !== null && seen.has(row.parent)) {
            // The circle is opened here; the others hang on this one.
            cut.run(at);
            this.leaveOut('a span is its own ancestor');
            break;
          }
          at = row.parent;
        }
        for (const one of path.reverse()) note.run(++depth, one);
      }
    })();
    db.exec('CREATE INDEX temp.spans_in_order ON spans (start, depth, id)');
    db.exec(
      'UPDATE spans SET number = o.number FROM (SELECT id, row_number() OVER (ORDER BY start, depth, id) AS number FROM spans) o WHERE o.id = spans.id',
    );
    db.exec('CREATE INDEX temp.spans_by_number ON spans (number)');
  }

  /** In the order of their numbers. */
  spans(after: number): StagedSpan[] {
    return this.db
      .prepare(
        `SELECT s.number AS id, p.number AS parent, s.start, s.end, s.service, s.process, s.json FROM spans s LEFT JOIN spans p ON p.id = s.parent
         WHERE s.number > ? ORDER BY s.number LIMIT ${BATCH}`,
      )
      .safeIntegers()
      .all(after)
      .map((row) => {
        const { id, parent, ...rest } = row as Omit<StagedSpan, 'id' | 'parent'> & {
          id: bigint;
          parent: bigint | null;
        };
        return { ...rest, id: Number(id), parent: parent === null ? null : Number(parent) };
      });
  }

  /** The same for the same spans, so that they are not imported twice. */
  runId(first: bigint): string {
    const keys = createHash('sha256');
    for (const key of this.db
      .prepare('SELECT key FROM spans ORDER BY key')
      .pluck()
      .iterate() as IterableIterator<string>)
      keys.update(`${key}\n`);
    const own = this.run !== undefined && /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/.test(this.run) ? this.run : undefined;
    const time = new Date(Number(first / 1_000_000n));
    const day = Number.isNaN(time.getTime()) ? 'imported' : time.toISOString().slice(0, 19).replaceAll(':', '-');
    return `${own ?? day}-otlp-${keys.digest('hex').slice(0, 10)}`;
  }

  drop(): void {
    this.db.exec('DROP TABLE temp.spans');
  }
}

/** Hands the spans to the writer as the frames an app would have written. Answers until when those ran of which no end is known. */
function write(writer: RunWriter, staged: Staged, first: bigint, masker: Masker): ReadonlyMap<number, number> {
  const lost = new Map<number, number>();
  const tasks = new Tasks();
  const functions = new Map<string, number>();
  writer.transaction(() => writer.addProcess(1, '0-otlp'));
  for (let after = 0; ;) {
    const spans = staged.spans(after);
    if (spans.length === 0) break;
    writer.transaction(() => {
      for (const span of spans) {
        const call = masked(readSpan(JSON.parse(span.json) as Fields, span.start), masker);
        for (const why of call.leftOut) staged.leaveOut(why);
        if (call.status === undefined) lost.set(globalId(1, span.id), Number(span.end - first));
        const events = call.events.filter(({ time }) => isNear(time - first));
        staged.leaveOut('an event lies too far from its run', call.events.length - events.length);
        for (const frame of framesOf(span, { ...call, events }, first, tasks, functions))
          writer.apply({ segment: SEGMENT, frame, end: span.id });
      }
    });
    after = spans.at(-1)!.id;
  }
  writer.transaction(() => {
    for (const [why, count] of staged.problems) {
      // It is there, and has no end.
      if (why === STILL_RAN) continue;
      for (let one = 0; one < Math.min(count, 100); one++)
        writer.damaged(count > 100 && one === 99 ? `${why} (${count} of them)` : why);
    }
  });
  return lost;
}

function isNear(time: bigint): boolean {
  return time >= -FARTHEST && time <= FARTHEST;
}

/** Whoever wrote a span need not have masked it. Its place among the others says no secret. */
function masked(call: SpanCall, masker: Masker): SpanCall {
  const { name, qualified, path, args, attributes, events, result, states, threadName } = call;
  return {
    ...call,
    ...masker.recorded({ name, qualified, args, attributes, events: [], threadName }, MASKED_LEVELS),
    path: path === null ? null : masker.text(path),
    states: states.map(({ when, value }) => ({ when, value: masker.recorded(value, MASKED_LEVELS) })),
    // Their times are no JSON.
    events: events.map((event) => ({ ...event, data: masker.recorded(event.data, MASKED_LEVELS) })),
    result:
      result instanceof RecordedErrorValue
        ? new RecordedErrorValue(masker.recorded(result.error, MASKED_LEVELS))
        : masker.recorded(result, MASKED_LEVELS),
  };
}

/** Stands for the file, where the writer wants to know how far it has read. */
const SEGMENT = { file: 'otlp', process: '0-otlp', number: 1, done: true, time: 0 } as unknown as Segment;

function* framesOf(
  span: StagedSpan,
  call: SpanCall,
  first: bigint,
  tasks: Tasks,
  functions: Map<string, number>,
): Generator<Frame> {
  const time = (moment: bigint): number => Number(moment - first);
  const start = time(span.start);
  const end = time(span.end);
  const { task, made } = tasks.of(span, call, start, end);
  if (made !== undefined) yield { kind: FrameKind.Task, id: task, name: made.name, parent: made.parent };
  const key = [call.kind, call.name, call.qualified, call.path, call.line].join('\0');
  let func = functions.get(key);
  if (func === undefined) {
    functions.set(key, (func = functions.size + 1));
    const { kind: callKind, name, qualified, path, line } = call;
    yield { kind: FrameKind.Function, id: func, callKind, name, qualified, module: '', path, line, endLine: line };
  }
  const { status } = call;
  const reader = new MarshalReader(marshal(call.args, status === undefined ? call.attributes : null));
  yield { kind: FrameKind.Start, id: span.id, parent: span.parent ?? 0, func, task, time: start, reader };
  for (const { when, value } of call.states)
    yield { kind: FrameKind.State, id: span.id, time: start, when, reader: new MarshalReader(marshal(value)) };
  for (const event of call.events)
    yield {
      kind: FrameKind.Event,
      time: time(event.time),
      name: event.name,
      call: span.id,
      reader: new MarshalReader(marshal(event.data)),
    };
  if (status === undefined) return;
  const { attributes, result } = call;
  const told = result === undefined ? marshal(attributes) : marshal(result, attributes);
  yield {
    kind: FrameKind.End,
    id: span.id,
    time: end,
    status,
    isUntold: result === undefined,
    reader: new MarshalReader(told),
  };
}

/** A call stays on its parent's task, unless a sibling is in flight there; a task that was told is believed. */
class Tasks {
  private readonly told = new Map<string, number>();
  private readonly taskOf = new Map<number, number>();
  /** When the last child of a call on the call's own task ended. */
  private readonly busy = new Map<number, number>();
  private next = 1;

  of(
    span: StagedSpan,
    call: SpanCall,
    start: number,
    end: number,
  ): { task: number; made?: { name: string; parent: number } } {
    const above = span.parent === null ? undefined : this.taskOf.get(span.parent);
    if (call.thread !== undefined) {
      const key = `${span.process} ${call.thread}`;
      const known = this.told.get(key);
      const task = known ?? this.next++;
      this.told.set(key, task);
      this.taskOf.set(span.id, task);
      return {
        task,
        ...(known === undefined && { made: { name: call.threadName ?? span.service, parent: above ?? 0 } }),
      };
    }
    // Roots follow one another on one task, too; 0 is no call.
    const parent = span.parent ?? 0;
    const free = (this.busy.get(parent) ?? -1) <= start;
    const before = span.parent === null ? this.taskOf.get(0) : above;
    if (free) this.busy.set(parent, end);
    const known = free ? before : undefined;
    const task = known ?? this.next++;
    if (span.parent === null && this.taskOf.get(0) === undefined) this.taskOf.set(0, task);
    this.taskOf.set(span.id, task);
    return {
      task,
      ...(known === undefined && {
        made: { name: task === 1 ? span.service : `${span.service} ${task}`, parent: above ?? 0 },
      }),
    };
  }
}

/** Tempo has a name of its own for them, or has all in a `trace`. */
function resourcesIn(document: Fields): Fields[] {
  const trace = document['trace'] as Fields | null | undefined;
  return list(document['resourceSpans'] ?? document['batches'] ?? trace?.['resourceSpans'] ?? trace?.['batches']);
}

function list(given: unknown): Fields[] {
  return Array.isArray(given)
    ? given.filter((one): one is Fields => typeof one === 'object' && one !== null && !Array.isArray(one))
    : [];
}
