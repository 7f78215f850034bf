/**
 * Where things lie in CPython on 64-bit machines, in bytes, by minor version. 3.13 and later say a part of it themselves, in the table that
 * their `_PyRuntime` begins with; what is not in it stays as in 3.13.
 */
export interface Layout {
  /** In `_PyRuntime`: the newest interpreter. */
  interpreters: number;
  interpreterThreads: number;
  threadNext: number;
  threadIdent: number;
  /** 0: not kept there. */
  threadNative: number;
  threadContext: number;
  threadFrame: number;
  /** Where the current frame is one pointer further: its offset there; -1: it is not. */
  threadFrameInside: number;
  frameCode: number;
  framePrevious: number;
  frameInstruction: number;
  frameLocals: number;
  /** Of the `PyFrameObject`; -1: the frame is one. */
  frameObject: number;
  frameOwner: number;
  /** 3.11: whether the interpreter was entered for this frame. Later versions have a frame of its own for that. */
  frameIsEntry: number;
  codeFirstLine: number;
  codeFilename: number;
  codeName: number;
  codeLines: number;
  codeLocalNames: number;
  /** More names, of the places behind those: cells, and cells of outer functions. Later versions have one list. */
  codeMoreNames: readonly number[];
  /** Of the first instruction in the code object; 0: the frame counts instructions. */
  codeStart: number;
  typeCachedKeys: number;
  /** Bytes of a text object before its letters: ASCII, and other. */
  ascii: number;
  compact: number;
  /** The value of an instance's attributes: see `objects.ts`. */
  attributes: 'dict' | 'pointer' | 'tagged' | 'inline';
}

const OF_3_10: Layout = {
  interpreters: 32,
  interpreterThreads: 8,
  threadNext: 8,
  threadIdent: 176,
  threadNative: 0,
  threadContext: 240,
  threadFrame: 24,
  threadFrameInside: -1,
  frameCode: 32,
  framePrevious: 24,
  frameInstruction: 96,
  frameLocals: 352,
  frameObject: -1,
  frameOwner: 0,
  frameIsEntry: 0,
  codeFirstLine: 40,
  codeFilename: 104,
  codeName: 112,
  codeLines: 120,
  codeLocalNames: 72,
  codeMoreNames: [88, 80],
  codeStart: 0,
  typeCachedKeys: 872,
  ascii: 48,
  compact: 72,
  attributes: 'dict',
};

const OF_3_11: Layout = {
  ...OF_3_10,
  interpreters: 40,
  interpreterThreads: 16,
  threadIdent: 152,
  threadNative: 160,
  threadContext: 224,
  threadFrame: 56,
  threadFrameInside: 8,
  frameCode: 32,
  framePrevious: 48,
  frameInstruction: 56,
  frameLocals: 72,
  frameObject: 40,
  frameOwner: 69,
  frameIsEntry: 68,
  codeFirstLine: 72,
  codeFilename: 112,
  codeName: 128,
  codeLines: 136,
  codeLocalNames: 96,
  codeMoreNames: [],
  codeStart: 184,
  attributes: 'pointer',
};

const OF_3_12: Layout = {
  ...OF_3_11,
  interpreterThreads: 72,
  threadIdent: 136,
  threadNative: 144,
  threadContext: 208,
  threadFrameInside: 0,
  frameCode: 0,
  framePrevious: 8,
  frameObject: 48,
  frameOwner: 70,
  frameIsEntry: 0,
  codeFirstLine: 68,
  codeStart: 192,
  typeCachedKeys: 880,
  ascii: 40,
  compact: 56,
  attributes: 'tagged',
};

const OF_3_13: Layout = {
  ...OF_3_12,
  interpreters: 632,
  interpreterThreads: 7344,
  threadIdent: 152,
  threadNative: 160,
  threadContext: 208,
  threadFrame: 72,
  threadFrameInside: -1,
  codeStart: 200,
  attributes: 'inline',
};

/** The offsets of one Python; undefined for a version that is not known. */
export function layoutOf(version: readonly number[], own: (index: number) => number): Layout | undefined {
  const [major, minor] = version;
  if (major !== 3) return undefined;
  if (minor === 10) return OF_3_10;
  if (minor === 11) return OF_3_11;
  if (minor === 12) return OF_3_12;
  if (minor !== 13) return undefined;
  // Its own table, as 64-bit words: a cookie, the version, and one group for each kind of object.
  return {
    ...OF_3_13,
    interpreters: own(5),
    interpreterThreads: own(9),
    threadNext: own(21),
    threadFrame: own(23),
    threadIdent: own(24),
    threadNative: own(25),
    framePrevious: own(29),
    frameCode: own(30),
    frameInstruction: own(31),
    frameLocals: own(32),
    frameOwner: own(33),
    codeFilename: own(35),
    codeName: own(37),
    codeLines: own(38),
    codeFirstLine: own(39),
    codeLocalNames: own(41),
    codeStart: own(43),
  };
}
