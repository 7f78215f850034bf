import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Frame } from '../../../protocol/control';
import { realPath } from '../../common/paths';
import type { PythonCall, PythonFrame, PythonLocal, PythonStack } from './pythonStack';

const WIDTH = 60;
/** The interpreter's loop: each one on the native stack runs the Python frames up to the next one. */
const LOOP = /^_PyEval_EvalFrameDefault\b/;
/** What stands between Python and the native code that it called, by the file it is in, or by name where that is not known. */
const GLUE_FILE = /^(lib)?python\d|^lib(c|ffi|pthread|dl|m)[.-]|^ld-linux|^_ctypes\b|^_cffi_backend\b|^\[vdso\]/;
/** The runtime's own compiled part, by its path: its functions stand between those of the frameworks and the person's. */
const OURS_FILE = /[\\/]toolbreak[\\/]_compiled\.[^\\/]*$/;
const GLUE_NAME =
  /^(_?Py|ffi_call|_ctypes_|_call_function_pointer|__libc_start|_start$|start_thread$|clone\d?$|__clone\d?$|pythread_)/;

/** Where a program or thread begins, which is linked into programs themselves. */
const BEGINNING = /^(_start|__libc_start\w*|start_thread|__?clone\d?)$/;

/** Functions of the runtime in which nodes and workflows run, by file and name. A graph that is a node runs where nodes do. */
const RUNS_NODE = /\/_frameworks\/_node_step\.py:(a?invoke|astream|_awaited)$/;
const RUNS_WORKFLOW =
  /\/_frameworks\/(langgraph\.py:run|_streams\.py:a?iterate|_node_step\.py:(a?invoke|astream|_awaited))$/;

export interface JoinOptions {
  /** The standard library's folder, and the runtime's own. */
  library: string;
  own: string;
  justMyCode: boolean;
  /** The file that a native frame's code is in, where that can be known. */
  fileOf(frame: Frame): string | undefined;
  /** Numbers for frames that are not the delegate's. */
  nextId(): number;
}

export interface Joined {
  frames: Frame[];
  /** What the frames show that are not the delegate's. */
  locals: Map<number, { scope: 'Locals' | 'Arguments'; values: PythonLocal[] }>;
}

/** One stack of a thread that stands still: its native frames, with the Python lines and the calls that they run in. */
export function joinStacks(native: readonly Frame[], python: PythonStack | undefined, options: JoinOptions): Joined {
  const joined: Joined = { frames: [], locals: new Map() };
  const lines = new PythonLines(python ?? { frames: [], calls: [] }, options, joined);
  const groups = groupsOf(python?.frames ?? []);
  let segment: Frame[] = [];
  let first = true;
  const close = (): void => {
    joined.frames.push(...shown(segment, first, options));
    segment = [];
    first = false;
  };
  for (const frame of native) {
    if (python !== undefined && isLoop(frame)) {
      close();
      lines.add(groups.shift() ?? []);
    } else segment.push(frame);
  }
  close();
  // Without any loop the native stack ends on its way to the first one.
  if (!native.some(isLoop)) lines.add(groups.shift() ?? []);
  if (groups.length > 0) {
    joined.frames.push(cutRow(options.nextId()));
    lines.add(groups.flat());
  }
  lines.end();
  return joined;
}

function isLoop(frame: Frame): boolean {
  return LOOP.test(frame.name);
}

/** Whether a native frame is the interpreter's own. */
export function isInterpreter(frame: Frame, fileOf: JoinOptions['fileOf']): boolean {
  return /^(lib)?python\d/.test(basename(fileOf(frame) ?? ''));
}

/** Whether a native frame is none of the person's own, by the file that its code is in. */
export function glueBy(fileOf: JoinOptions['fileOf']): (frame: Frame) => boolean {
  return (frame) => {
    if (BEGINNING.test(frame.name)) return true;
    const file = fileOf(frame);
    return file === undefined ? GLUE_NAME.test(frame.name) : GLUE_FILE.test(basename(file)) || OURS_FILE.test(file);
  };
}

/** The native frames of a program: what leads from the system to its `main` is left out. */
export function programFrames(frames: readonly Frame[], options: Pick<JoinOptions, 'justMyCode' | 'fileOf'>): Frame[] {
  return shown(frames, true, options);
}

/** Innermost first: what is inside the person's own native code belongs to it; what leads from there to Python is the interpreter's. */
function shown(
  segment: readonly Frame[],
  first: boolean,
  { justMyCode, fileOf }: Pick<JoinOptions, 'justMyCode' | 'fileOf'>,
): Frame[] {
  const isGlue = glueBy(fileOf);
  const last = segment.findLastIndex((frame) => !isGlue(frame));
  // Where the interpreter itself fails, that is what there is to see.
  if (last < 0 && first) return [...segment];
  // Further out, only what leads from Python into the person's code comes before it.
  const start = first
    ? 0
    : Math.max(
        segment.findIndex((frame) => !isGlue(frame)),
        0,
      );
  const subtle = (frames: Frame[]): Frame[] => (justMyCode ? [] : frames.map((frame) => ({ ...frame, subtle: true })));
  return [...subtle(segment.slice(0, start)), ...segment.slice(start, last + 1), ...subtle(segment.slice(last + 1))];
}

function cutRow(id: number): Frame {
  return {
    id,
    kind: 'source',
    name: '[native frames below are not shown]',
    detail: '',
    line: 0,
    subtle: true,
    canRestart: false,
  };
}

/** Python frames that one run of the interpreter's loop stands for. */
function groupsOf(frames: readonly PythonFrame[]): PythonFrame[][] {
  const groups: PythonFrame[][] = [];
  let open: PythonFrame[] | undefined;
  for (const frame of frames) {
    if (open === undefined) groups.push((open = []));
    open.push(frame);
    if (frame.isEntry) open = undefined;
  }
  return groups;
}

/** As the runtime builds the stack of a hold: each call once, at the frame that runs it where there is one. */
class PythonLines {
  #done = 0;

  constructor(
    private readonly stack: PythonStack,
    private readonly options: JoinOptions,
    private readonly joined: Joined,
  ) {}

  add(frames: readonly PythonFrame[]): void {
    for (const frame of frames) {
      const { calls } = this.stack;
      let place = calls.findIndex(
        (call, index) => index >= this.#done && call.frame !== 0 && call.frame === frame.object,
      );
      if (place < 0 && isOurs(frame.path, this.options)) this.#frameworkCall(frame);
      const user = place < 0 && isUser(frame.path, this.options);
      if (user) place = calls.findIndex((call, index) => index >= this.#done && runs(call, frame));
      if (place >= 0) {
        this.#missing(place);
        // The lines of the innermost call's own function, then the call.
        if (place === 0) this.#line(frame, false);
        this.#call(calls[place]!, place === 0 ? undefined : frame);
        this.#done = place + 1;
      } else if (user) this.#line(frame, false);
      else if (!this.options.justMyCode && !frame.path.startsWith('<') && !isOurs(frame.path, this.options)) {
        this.#line(frame, true);
      }
    }
  }

  /** A framework's call has no frame of its own: it stands where the runtime's part that runs it does, before the lines that called it. */
  #frameworkCall({ path, name }: PythonFrame): void {
    const call = this.stack.calls[this.#done];
    if (call === undefined || call.frame !== 0) return;
    const runs = `${path}:${name.split('.').pop()}`;
    const isHere = call.kind === 'workflow' ? RUNS_WORKFLOW : call.kind === 'node' ? RUNS_NODE : undefined;
    if (isHere?.test(runs) === true) this.#missing(this.#done + 1);
  }

  end(): void {
    this.#missing(this.stack.calls.length);
  }

  #missing(until: number): void {
    for (const call of this.stack.calls.slice(this.#done, until)) this.#call(call, undefined);
    this.#done = Math.max(this.#done, until);
  }

  #call(call: PythonCall, frame: PythonFrame | undefined): void {
    const line = frame?.line ?? call.line;
    const id = this.options.nextId();
    this.joined.frames.push({
      id,
      call: call.number,
      kind: call.kind as Frame['kind'],
      name: title(call),
      detail: call.detail,
      ...(call.path !== undefined && { path: call.path }),
      line: call.path === undefined ? 0 : line,
      ...(call.endLine > line && { endLine: call.endLine }),
      subtle: false,
      canRestart: false,
    });
    this.joined.locals.set(
      id,
      frame === undefined ? { scope: 'Arguments', values: call.args } : { scope: 'Locals', values: frame.locals },
    );
  }

  #line(frame: PythonFrame, subtle: boolean): void {
    const id = this.options.nextId();
    this.joined.frames.push({
      id,
      kind: 'source',
      name: frame.name,
      detail: '',
      path: frame.path,
      line: frame.line,
      subtle,
      canRestart: false,
    });
    this.joined.locals.set(id, { scope: 'Locals', values: frame.locals });
  }
}

/** Whether this frame runs the function of a framework's call. */
function runs(call: PythonCall, frame: PythonFrame): boolean {
  return (
    call.frame === 0 &&
    call.kind !== 'workflow' &&
    call.path === realPath(frame.path) &&
    frame.firstLine <= call.line &&
    call.line <= frame.line
  );
}

/** `lookup_order(order_id=7, region='eu')`, cut in the middle; nodes and workflows by name alone. */
function title(call: PythonCall): string {
  if (!['tool', 'function', 'http', 'native'].includes(call.kind)) return call.name;
  const text = call.args.map(({ name, value }) => `${name}=${value}`).join(', ');
  const short = text.length > WIDTH ? `${text.slice(0, (WIDTH * 2) / 3)}…${text.slice(-WIDTH / 3)}` : text;
  return `${call.name}(${short})`;
}

function isOurs(path: string, { own }: JoinOptions): boolean {
  return realPath(path).startsWith(`${own}/`);
}

/** Whether a person wrote this file for this app: not the standard library, not an installed package, not us. */
function isUser(path: string, options: JoinOptions): boolean {
  if (path === '' || path.startsWith('<') || isOurs(path, options)) return false;
  const real = realPath(path);
  return (
    !/\/(site|dist)-packages\/|\/__pycache__\//.test(real) &&
    !real.startsWith(`${options.library}/`) &&
    existsSync(real)
  );
}
