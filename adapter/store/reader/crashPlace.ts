import { wholeFrame, type EventFields, type EventFrame } from './eventPlace';
import type { RunFile } from './runFile';

/** Of systems, of Python's own library and of installed packages; `<string>` is no file, and a library's own sources are seldom here. */
const LIBRARY =
  /^(?:<|\.{1,2}\/|\/(?:usr|lib\w*|opt|build|rustc|System|Library)\/|[A-Za-z]:\\(?:Windows|Program Files))|[\\/](?:(?:site|dist)-packages|python3\.\d+|node_modules)[\\/]/;

/**
 * The way to a crash from the person's own line on, and where below that it happened. The innermost frames are mostly those of a library, or of what
 * delivers a signal, and say little.
 */
export function crashWay(file: RunFile, fields: EventFields): { way: EventFrame[]; inside: EventFrame | undefined } {
  const { stack } = fields;
  const at = ownFrame(file, fields);
  return { way: stack.slice(at), inside: at > 0 ? stack[0] : undefined };
}

function ownFrame(file: RunFile, fields: EventFields): number {
  const { stack } = fields;
  const said = fields.saidPlace;
  if (said !== undefined) {
    const at = stack.findIndex(({ path, line }) => path === said.path && line === said.line);
    if (at >= 0) return at;
  }
  const folders = foldersOf(file);
  const is = [
    (frame: EventFrame) => isWithin(folders, frame),
    ({ path }: EventFrame) => path !== undefined && !LIBRARY.test(path),
  ];
  for (const test of is) {
    const at = stack.findIndex(test);
    if (at >= 0) return at;
  }
  return Math.max(
    0,
    stack.findIndex(({ path }) => path !== undefined),
  );
}

function isWithin(folders: readonly string[], { path }: EventFrame): boolean {
  return (
    path !== undefined &&
    folders.some((folder) => path.startsWith(folder) && !LIBRARY.test(path.slice(folder.length - 1)))
  );
}

/** Where the processes were started. */
function foldersOf(file: RunFile): string[] {
  const sql = "SELECT DISTINCT cwd FROM processes WHERE cwd <> '' LIMIT 20";
  const folders = file.once(sql, () => file.sql(sql).pluck().all()) as string[];
  return folders
    .filter((folder) => folder.length > 1)
    .map((folder) => (/[\\/]$/.test(folder) ? folder : `${folder}${folder.includes('\\') ? '\\' : '/'}`));
}

/** `in string_at, from fail @ order.py:40 ← work @ …`: files of the person's are told as seen from where the process was started. */
export function crashText(file: RunFile, fields: EventFields): string {
  const { way, inside } = crashWay(file, fields);
  const folders = foldersOf(file);
  const isOwn = way.map((frame) => isWithin(folders, frame) || (frame.path !== undefined && !LIBRARY.test(frame.path)));
  // Where some are a person's own, those of libraries between them say little.
  const text = way
    .map((frame, index) => {
      if (isOwn[index] === true || !isOwn.includes(true)) return wholeFrame(seenFrom(folders, frame));
      return isOwn[index - 1] === true ? '…' : undefined;
    })
    .filter((line) => line !== undefined)
    .join(' ← ');
  return inside === undefined ? text : `in ${inside.function}, from ${text}`;
}

function seenFrom(folders: readonly string[], frame: EventFrame): EventFrame {
  const folder = folders.find((one) => frame.path?.startsWith(one) === true);
  return folder === undefined ? frame : { ...frame, path: frame.path!.slice(folder.length) };
}
