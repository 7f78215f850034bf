import { holdOf } from '../../engine/tasks';
import { presentException, presentFrame, sourceOf, threadName } from '../present/stack';
import { presentScope, presentVariable } from '../present/values';
import type { Handler } from '../requests';

/** Stands for the app while no task is known, so that an editor has something to pause. */
export const WHOLE_APP = 0x7fff_0000;

export const threads: Handler<'threads'> = async ({ session, client }) => {
  const tasks = await session.engine.threads();
  session.runningNames.told(client, tasks);
  const [first] = session.engine.processes;
  // Also before the app says anything: editors ask at the start, and then only when a thread begins.
  if (tasks.length === 0 && session.engine.isStarted) {
    return { threads: [{ id: WHOLE_APP, name: first?.hello.name ?? 'app' }] };
  }
  return { threads: tasks.map((task) => ({ id: task.thread, name: threadName(task) })) };
};

export const stackTrace: Handler<'stackTrace'> = async ({ session, client }, args) => {
  const task = session.engine.tasks.get(args.threadId);
  const start = args.startFrame ?? 0;
  const frames = await session.engine.frames(task, start, args.levels);
  const hold = holdOf(task);
  // How many more there are is not known before they are there: the next page, at least.
  const total = hold.frames.length + (hold.moreFrames ? (args.levels ?? 1) : 0);
  return { stackFrames: frames.map((frame) => presentFrame(client, task, frame)), totalFrames: total };
};

export const scopes: Handler<'scopes'> = async ({ session, client, signal }, args) => {
  const isGone = (): boolean => client.asksTooLate && client.frames.isGone(args.frameId);
  if (isGone()) return { scopes: [] };
  const { task, frame } = client.frame(args.frameId);
  try {
    const body = await session.engine.inspect(task, 'scopes', { frame }, signal);
    return { scopes: body.scopes.map((scope) => presentScope(client, task, scope)) };
  } catch (error) {
    // It went on while it was asked.
    if (isGone()) return { scopes: [] };
    throw error;
  }
};

export const variables: Handler<'variables'> = async ({ session, client, signal }, args) => {
  const { task, ref } = client.value(args.variablesReference);
  const page = {
    ...(args.filter ? { filter: args.filter } : {}),
    ...(args.start === undefined ? {} : { start: args.start }),
    ...(args.count ? { count: args.count } : {}),
  };
  const body = await session.engine.inspect(task, 'variables', { ref, ...page }, signal);
  return { variables: body.variables.map((variable) => presentVariable(client, task, variable)) };
};

/** To the definition of a value; its file is looked for only now. */
export const locations: Handler<'locations'> = async ({ session, client, signal }, args) => {
  const { task, ref } = client.value(args.locationReference);
  const { path, line } = await session.engine.inspect(task, 'location', { location: ref }, signal);
  return { source: sourceOf(client, path, false), line: client.lineTo(line), column: client.columnTo(1) };
};

export const exceptionInfo: Handler<'exceptionInfo'> = async ({ session, signal }, args) => {
  const task = session.engine.tasks.get(args.threadId);
  return presentException(await session.engine.inspect(task, 'exception', {}, signal));
};
