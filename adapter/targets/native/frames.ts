import { existsSync } from 'node:fs';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Frame } from '../../../protocol/control';
import type { DelegateClient } from '../delegate/client';

/** Frames fetched with a stop; the others when somebody looks. */
export const FIRST_FRAMES = 20;
/** Frames of one page where nobody says how many. */
const FRAMES_A_PAGE = 1000;

export interface FramePage {
  frames: Frame[];
  more: boolean;
}

/** Stacks of a native program, by pages. */
export class NativeFrames {
  /** Which source files are here. */
  readonly #missing = new Map<string, boolean>();

  constructor(
    private readonly client: DelegateClient,
    private readonly tell: (sentence: string) => void,
  ) {}

  async page(thread: number, start: number, count: number | undefined, signal?: AbortSignal): Promise<FramePage> {
    const levels = Math.min(count ?? (start === 0 ? FIRST_FRAMES : FRAMES_A_PAGE), FRAMES_A_PAGE);
    const body = await this.client.request('stackTrace', { threadId: thread, startFrame: start, levels }, { signal });
    const got = body.stackFrames.length;
    return {
      frames: body.stackFrames.map((frame) => this.#frame(frame)),
      more: got >= levels && (body.totalFrames === undefined || body.totalFrames > start + got),
    };
  }

  #frame(frame: P.StackFrame): Frame {
    const path = this.#sourceOf(frame);
    return {
      id: frame.id,
      kind: 'native',
      name: frame.name,
      detail: '',
      ...(path === undefined
        ? { line: 0 }
        : { path, line: frame.line, ...(frame.column > 0 ? { column: frame.column } : {}) }),
      ...(frame.instructionPointerReference ? { instruction: frame.instructionPointerReference } : {}),
      subtle: path === undefined,
      canRestart: false,
    };
  }

  /** The frame's file, where it has one and the file is here. What the delegate disassembles for want of one is no file. */
  #sourceOf({ source, line }: P.StackFrame): string | undefined {
    const path = source?.path;
    if (!path || source.sourceReference || !(line > 0)) return undefined;
    let here = this.#missing.get(path);
    if (here === undefined) {
      here = existsSync(path);
      this.#missing.set(path, here);
      if (!here) {
        this.tell(
          `The program was compiled from ${path}, which is not on this machine: its lines cannot be shown. "sourceMap" in launch.json says where such files are.`,
        );
      }
    }
    return here ? path : undefined;
  }
}
