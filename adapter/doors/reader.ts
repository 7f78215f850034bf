import { lineOf, LineSplitter, parseObject } from '../common/ndjson';
import { UserError, messageOf } from '../common/errors';
import { problemWith } from '../store/database';
import { Reader } from '../store/reader/reader';

/** Longest request line. */
const LONGEST_LINE = 1024 * 1024;

/** The reader process: one JSON request a line on standard input, one answer or notification a line on standard output. */
export function runReader(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): void {
  const send = (message: object): void => void output.write(lineOf(message));
  const reader = new Reader((notify, params) => send({ notify, params }));
  const fail = (id: unknown, message: string): void =>
    send({ id: typeof id === 'number' ? id : -1, error: { message } });
  const answer = (line: string): void => {
    const request = parseObject(line);
    if (request === undefined || typeof request['id'] !== 'number' || typeof request['method'] !== 'string') {
      return fail(request?.['id'], 'This is no request: a JSON object with "id", "method" and "params" is.');
    }
    try {
      send({ id: request['id'], result: reader.handle(request['method'], request['params']) });
    } catch (error) {
      fail(request['id'], sentence(error, request['params']));
    }
  };
  const lines = new LineSplitter(answer, LONGEST_LINE, () => fail(undefined, 'The request is too long.'));
  input.on('data', (chunk: Buffer) => lines.push(chunk));
  input.on('end', () => reader.close());
  // The page's host is gone: nobody is left to answer.
  output.on('error', () => process.exit(0));
}

/** What SQLite says of a file is turned into a sentence; an error of ours is told with its words and logged with its stack. */
function sentence(error: unknown, params: unknown): string {
  if (error instanceof UserError) return error.message;
  const code = (error as { code?: unknown }).code;
  const file = (params as { file?: unknown } | null)?.file;
  if (typeof code === 'string' && code.startsWith('SQLITE') && typeof file === 'string')
    return problemWith(file, error).message;
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return `The run could not be read: ${messageOf(error)}.`;
}

runReader(process.stdin, process.stdout);
