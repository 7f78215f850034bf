import { layoutOf, type Layout } from './layout';
import { ProcessMemory } from './memory';
import { Objects } from './objects';

/** Where the runtime says that things are; all are addresses in the app. */
export interface PythonPlaces {
  version: number[];
  /** `_PyRuntime`. */
  runtime: number;
  /** The context variable that knows the call code runs in. */
  context: number;
  /** `threading._active`. */
  threads: number;
}

export interface PythonLocal {
  name: string;
  value: string;
  type: string;
}

export interface PythonFrame {
  /** Address of the frame object, as a call has it; 0: there is none. */
  object: number;
  name: string;
  path: string;
  line: number;
  firstLine: number;
  /** The interpreter was entered for this frame: native code called it. */
  isEntry: boolean;
  locals: PythonLocal[];
}

/** One call of the workflow that the thread is in. */
export interface PythonCall {
  number: number;
  kind: string;
  name: string;
  /** What a framework tells about it, in the runtime's words: `node, step 2`, `workflow, call 1`. */
  detail: string;
  path?: string;
  line: number;
  endLine: number;
  args: PythonLocal[];
  /** As `PythonFrame.object`. */
  frame: number;
  task: { id: number; name: string };
}

export interface PythonStack {
  /** Innermost first, both. */
  frames: PythonFrame[];
  calls: PythonCall[];
}

const OWNED_BY_INTERPRETER = 3;
const MOST_FRAMES = 2000;
const MOST_LOCALS = 50;

/** Frames and calls of one thread of a process that stands still; undefined where this thread is none of Python's. */
export function readPythonStack(pid: number, tid: number, places: PythonPlaces): PythonStack | undefined {
  const memory = new ProcessMemory(pid);
  try {
    const layout = layoutOf(places.version, (index) => memory.pointer(places.runtime + index * 8));
    if (layout === undefined || places.runtime === 0) return undefined;
    const reader = new Reader(new Objects(memory, layout), layout, places);
    const thread = reader.thread(tid);
    return thread === undefined ? undefined : { frames: reader.frames(thread), calls: reader.calls(thread) };
  } finally {
    memory.close();
  }
}

class Reader {
  readonly #memory: ProcessMemory;

  constructor(
    private readonly objects: Objects,
    private readonly layout: Layout,
    private readonly places: PythonPlaces,
  ) {
    this.#memory = objects.memory;
  }

  thread(tid: number): number | undefined {
    const { layout } = this;
    const wanted = layout.threadNative > 0 ? tid : this.#identOf(tid);
    const interpreter = this.#memory.pointer(this.places.runtime + layout.interpreters);
    let thread = this.#memory.pointer(interpreter + layout.interpreterThreads);
    for (let looked = 0; thread !== 0 && looked < MOST_FRAMES; looked++) {
      if (this.#memory.pointer(thread + (layout.threadNative || layout.threadIdent)) === wanted) return thread;
      thread = this.#memory.pointer(thread + layout.threadNext);
    }
    return undefined;
  }

  /** Before 3.11 only the `threading` module knows the number that the system gives a thread. */
  #identOf(tid: number): number | undefined {
    for (const [key, thread] of this.objects.entries(this.places.threads)) {
      const native = this.objects.attribute(thread, '_native_id');
      if (native !== undefined && this.objects.integer(native) === BigInt(tid))
        return Number(this.objects.integer(key));
    }
    return undefined;
  }

  frames(thread: number): PythonFrame[] {
    const { layout } = this;
    const memory = this.#memory;
    let frame = memory.pointer(thread + layout.threadFrame);
    if (layout.threadFrameInside >= 0) frame = memory.pointer(frame + layout.threadFrameInside);
    const found: PythonFrame[] = [];
    while (frame !== 0 && found.length < MOST_FRAMES) {
      if (layout.frameObject >= 0 && memory.byte(frame + layout.frameOwner) === OWNED_BY_INTERPRETER) {
        const last = found.at(-1);
        if (last !== undefined) last.isEntry = true;
      } else found.push(this.#frame(frame));
      frame = memory.pointer(frame + layout.framePrevious);
    }
    return found;
  }

  #frame(frame: number): PythonFrame {
    const { layout, objects } = this;
    const memory = this.#memory;
    const code = memory.pointer(frame + layout.frameCode);
    const place =
      layout.codeStart === 0
        ? memory.int32(frame + layout.frameInstruction) * 2
        : memory.pointer(frame + layout.frameInstruction) - (code + layout.codeStart);
    const firstLine = memory.int32(code + layout.codeFirstLine);
    const table = memory.pointer(code + layout.codeLines);
    const lines = memory.bytes(table + 32, memory.pointer(table + 16));
    return {
      object: layout.frameObject < 0 ? frame : memory.pointer(frame + layout.frameObject),
      name: objects.text(memory.pointer(code + layout.codeName)).replaceAll('<locals>.', ''),
      path: objects.text(memory.pointer(code + layout.codeFilename)),
      line: layout.codeStart === 0 ? lineIn310(lines, firstLine, place) : lineAt(lines, firstLine, place),
      firstLine,
      isEntry: layout.frameObject < 0 || (layout.frameIsEntry > 0 && memory.byte(frame + layout.frameIsEntry) !== 0),
      locals: this.#locals(frame, code),
    };
  }

  #locals(frame: number, code: number): PythonLocal[] {
    const { layout, objects } = this;
    const names = [layout.codeLocalNames, ...layout.codeMoreNames]
      .flatMap((list) => objects.tuple(this.#memory.pointer(code + list)))
      .slice(0, MOST_LOCALS);
    const found: PythonLocal[] = [];
    names.forEach((name, index) => {
      let value = this.#memory.pointer(frame + layout.frameLocals + index * 8);
      // A variable that an inner function uses, too, lies in a cell.
      if (value !== 0 && objects.typeOf(value) === 'cell') value = this.#memory.pointer(value + 16);
      if (value !== 0) found.push(this.#named(objects.text(name), value));
    });
    return found;
  }

  #named(name: string, value: number): PythonLocal {
    return { name, value: this.objects.short(value), type: this.objects.typeOf(value).split('.').pop() ?? '' };
  }

  calls(thread: number): PythonCall[] {
    const context = this.#memory.pointer(thread + this.layout.threadContext);
    if (context === 0) return [];
    const variables = this.#memory.pointer(context + 24);
    let call = variables === 0 ? undefined : this.#lookUp(this.#memory.pointer(variables + 16), this.places.context);
    const found: PythonCall[] = [];
    while (call !== undefined && this.objects.typeOf(call) !== 'NoneType' && found.length < MOST_FRAMES) {
      if (!this.#isTrue(call, 'quiet') && !this.#isTrue(call, 'ended')) found.push(this.#call(call));
      call = this.objects.attribute(call, 'parent');
    }
    return found;
  }

  /** What a context has under this variable: all of its tree is looked at, since hashes are no matter of ours. */
  #lookUp(node: number, variable: number): number | undefined {
    const memory = this.#memory;
    const type = this.objects.typeOf(node);
    if (type === 'hamt_array_node') {
      for (let index = 0; index < 32; index++) {
        const child = memory.pointer(node + 16 + index * 8);
        const found = child === 0 ? undefined : this.#lookUp(child, variable);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    const count = memory.pointer(node + 16);
    for (let index = 0; index + 1 < Math.min(count, 1024); index += 2) {
      const key = memory.pointer(node + 32 + index * 8);
      const value = memory.pointer(node + 40 + index * 8);
      if (key === variable) return value;
      const found = key === 0 && value !== 0 ? this.#lookUp(value, variable) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #call(call: number): PythonCall {
    const { objects } = this;
    const fn = objects.attribute(call, 'function')!;
    const path = objects.attribute(fn, 'path');
    const frame = objects.attribute(call, 'frame');
    const args = objects.attribute(call, 'args');
    const task = objects.attribute(call, 'task')!;
    const kind = objects.text(objects.attribute(fn, 'kind')!);
    const isFrame = frame !== undefined && objects.typeOf(frame) === 'frame';
    return {
      number: this.#number(call, 'number'),
      kind,
      name: objects.text(objects.attribute(fn, 'name')!),
      detail: this.#detail(call, kind),
      ...(path !== undefined && objects.typeOf(path) === 'str' && { path: objects.text(path) }),
      line: this.#number(fn, 'line'),
      endLine: this.#number(fn, 'end_line'),
      args:
        args !== undefined && objects.typeOf(args) === 'dict'
          ? objects
              .entries(args)
              .slice(0, MOST_LOCALS)
              .flatMap(([key, value]) => (objects.typeOf(key) === 'str' ? [this.#named(objects.text(key), value)] : []))
          : [],
      frame: isFrame ? frame : 0,
      task: { id: this.#number(task, 'id'), name: objects.text(objects.attribute(task, 'name')!) },
    };
  }

  /** As the runtime's adapters of frameworks say it, from what they keep: a node its metadata, a workflow its number. */
  #detail(call: number, kind: string): string {
    const { objects } = this;
    const said = kind === 'llm' ? 'model' : kind;
    const adapter = objects.attribute(call, 'adapter');
    if (adapter === undefined || objects.typeOf(adapter) === 'NoneType') return said;
    if (kind === 'workflow') {
      const number = this.#number(adapter, 'number');
      return number > 0 ? `${said}, call ${number}` : said;
    }
    const metadata = objects.attribute(adapter, 'metadata');
    if (metadata === undefined || objects.typeOf(metadata) !== 'dict') return said;
    const [, step] =
      objects
        .entries(metadata)
        .find(([key]) => objects.typeOf(key) === 'str' && objects.text(key) === 'langgraph_step') ?? [];
    return step !== undefined && objects.typeOf(step) === 'int' ? `${said}, step ${objects.integer(step)}` : said;
  }

  #number(object: number, name: string): number {
    const value = this.objects.attribute(object, name);
    return value === undefined ? 0 : Number(this.objects.integer(value));
  }

  #isTrue(object: number, name: string): boolean {
    const value = this.objects.attribute(object, name);
    return value !== undefined && this.objects.typeOf(value) === 'bool' && this.objects.integer(value) !== 0n;
  }
}

/** The line of an instruction, from the table that 3.11 and later keep of the places of all of them. */
export function lineAt(table: Buffer, firstLine: number, place: number): number {
  let line = firstLine;
  let start = 0;
  let at = 0;
  while (at < table.length) {
    const head = table[at++]!;
    const code = (head >> 3) & 15;
    let has = true;
    if (code === 15) has = false;
    else if (code === 13 || code === 14) {
      let value = 0;
      for (let shift = 0; ; shift += 6) {
        const byte = table[at++] ?? 0;
        value |= (byte & 63) << shift;
        if ((byte & 64) === 0) break;
      }
      line += value & 1 ? -(value >> 1) : value >> 1;
    } else if (code >= 10) line += code - 10;
    while (at < table.length && (table[at]! & 0x80) === 0) at++;
    const end = start + ((head & 7) + 1) * 2;
    if (place < end) return has ? line : firstLine;
    start = end;
  }
  return line;
}

/** The same of 3.10: pairs of a length and a difference of lines. */
export function lineIn310(table: Buffer, firstLine: number, place: number): number {
  let line = firstLine;
  let end = 0;
  for (let at = 0; at + 1 < table.length; at += 2) {
    end += table[at]!;
    const difference = table.readInt8(at + 1);
    if (difference !== -128) line += difference;
    if (place < end) return line;
  }
  return line;
}
