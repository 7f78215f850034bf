import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ControlRequests } from '../../../protocol/control';
import { UserError } from '../../common/errors';
import { presentResult } from '../present/values';
import type { Context, Handler } from '../requests';

type EvaluateContext = ControlRequests['evaluate']['arguments']['context'];
const CONTEXTS: readonly EvaluateContext[] = ['watch', 'repl', 'hover', 'clipboard', 'variables'];

export const evaluate: Handler<'evaluate'> = async ({ session, client, signal }, args) => {
  const context = CONTEXTS.find((known) => known === args.context) ?? 'watch';
  if (args.frameId === undefined) {
    const process = firstProcess(session);
    const value = await session.engine.request(process, 'evaluate', { expression: args.expression, context }, signal);
    return { result: value.value, ...presentResult(client, undefined, value) };
  }
  const { task, frame, hold } = client.frame(args.frameId);
  const value = await session.engine.inspect(task, 'evaluate', { frame, expression: args.expression, context }, signal);
  if (context === 'repl' && task.hold?.id === hold) {
    // A statement typed in the console may have changed anything on the stack.
    await session.engine.refresh(task);
  }
  return { result: value.value, ...presentResult(client, task, value) };
};

function firstProcess(session: Context['session']) {
  const [process] = session.engine.processes;
  if (!process) {
    throw new UserError('The app is not running.');
  }
  return process;
}

export const completions: Handler<'completions'> = async ({ session, client, signal }, args) => {
  // Only the line with the cursor is completed.
  const lines = args.text.split('\n');
  const line = args.line === undefined ? 0 : client.lineFrom(args.line) - 1;
  const text = lines[line] ?? args.text;
  const column = client.columnFrom(args.column);
  const handle = args.frameId === undefined ? undefined : client.frame(args.frameId);
  const body = handle
    ? await session.engine.inspect(handle.task, 'completions', { frame: handle.frame, text, column }, signal)
    : await session.engine.request(firstProcess(session), 'completions', { text, column }, signal);
  return {
    targets: body.targets.map((target) => ({
      label: target.label,
      ...(target.type ? { type: target.type as DebugProtocol.CompletionItemType } : {}),
      ...(target.start === undefined ? {} : { start: client.columnTo(target.start + 1) }),
      ...(target.length === undefined ? {} : { length: target.length }),
    })),
  };
};

export const setVariable: Handler<'setVariable'> = async ({ session, client, signal }, args) => {
  const { task, ref } = client.value(args.variablesReference);
  const value = await session.engine.edit(
    task,
    'setVariable',
    { ref, name: args.name, value: args.value, client: client.id },
    signal,
  );
  session.noteEdit(task, args.name, client);
  return { value: value.value, ...presentResult(client, task, value) };
};

export const setExpression: Handler<'setExpression'> = async ({ session, client, signal }, args) => {
  if (args.frameId === undefined) {
    throw new UserError('Choose a held frame first; the expression is set there.');
  }
  const { task, frame } = client.frame(args.frameId);
  const { expression, value: text } = args;
  const value = await session.engine.edit(
    task,
    'setExpression',
    { frame, expression, value: text, client: client.id },
    signal,
  );
  session.noteEdit(task, expression, client);
  return { value: value.value, ...presentResult(client, task, value) };
};
