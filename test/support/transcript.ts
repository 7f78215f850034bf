import type { DebugProtocol } from '@vscode/debugprotocol';
import type { DapClient } from './dap-client';

export interface TranscriptOptions {
  /** Texts that differ from run to run, such as folders, and what stands for them; the longest should come first. */
  replace?: (readonly [text: string | RegExp, name: string])[];
  /** Events that are left out, because when they come is not the scenario's matter. */
  without?: string[];
}

/** Keys whose values differ from run to run. */
const VOLATILE: Record<string, string> = {
  systemProcessId: '<pid>',
  processId: '<pid>',
  pid: '<pid>',
  session: '<session>',
  run: '<run>',
  runFile: '<run file>',
  runsFolder: '<runs folder>',
  logs: '<logs>',
  token: '<token>',
};

/** The whole conversation as text for a golden log: one message a paragraph, in the order it happened. */
export function transcript(client: DapClient, options: TranscriptOptions = {}): string {
  const lines: string[] = [];
  const commands = new Map<number, string>();
  for (const { direction, message } of client.messages) {
    if (message.type === 'request') {
      const request = message as DebugProtocol.Request;
      commands.set(request.seq, request.command);
      lines.push(`${direction} ${request.command}${body(request.arguments, options)}`);
    } else if (message.type === 'event') {
      const event = message as DebugProtocol.Event;
      if (!options.without?.includes(event.event)) {
        lines.push(`${direction} event ${event.event}${body(event.body, options)}`);
      }
    } else {
      const response = message as DebugProtocol.Response;
      const result = response.success ? 'answer' : `refusal "${replaced(response.message ?? '', options)}"`;
      lines.push(
        `${direction} ${response.command} ${result}${body(response.success ? response.body : undefined, options)}`,
      );
    }
  }
  return lines.join('\n');
}

function body(value: unknown, options: TranscriptOptions): string {
  if (value === undefined || value === null) {
    return '';
  }
  const clean = JSON.stringify(
    value,
    (key, inner: unknown) =>
      Object.hasOwn(VOLATILE, key) && typeof inner !== 'object'
        ? VOLATILE[key]
        : typeof inner === 'string'
          ? replaced(inner, options)
          : inner,
    2,
  );
  return ` ${shortLists(clean)}`;
}

/** Small objects stay on one line, so that a variable is a line and a difference can be read. */
function shortLists(json: string): string {
  let text = json;
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replace(
      /([[{])\n\s*([^[\]{}\n]*(?:\n\s*[^[\]{}\n]*)*?)\n\s*([\]}])/g,
      (whole, open: string, inside: string, close: string) => {
        const line = `${open} ${inside.replace(/\n\s*/g, ' ')} ${close}`;
        return line.length <= 150 ? line : whole;
      },
    );
  }
  return text;
}

function replaced(text: string, options: TranscriptOptions): string {
  return (options.replace ?? []).reduce<string>(
    (done, [find, name]) => (typeof find === 'string' ? done.replaceAll(find, name) : done.replace(find, name)),
    text,
  );
}
