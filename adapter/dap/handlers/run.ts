import type { DebugProtocol } from '@vscode/debugprotocol';
import { UserError } from '../../common/errors';
import { realPath } from '../../common/paths';
import { holdOf, taskTitle } from '../../engine/tasks';
import type { Context, Handler } from '../requests';
import { WHOLE_APP } from './stack';

/** `continue` is a word of the language. */
export const continue_: Handler<'continue'> = async (context, args) => {
  const { tasks } = context.session.engine;
  const whole = tasks.get(args.threadId).hold?.whole === true;
  await proceed(context, args);
  return { allThreadsContinued: whole && tasks.held().length === 0 };
};
export const next: Handler<'next'> = (context, args) => proceed(context, args, { step: 'over' });
export const stepIn: Handler<'stepIn'> = (context, args) =>
  proceed(context, args, { step: 'in', ...(args.targetId === undefined ? {} : { target: args.targetId }) });
export const stepOut: Handler<'stepOut'> = (context, args) => proceed(context, args, { step: 'out' });

async function proceed(
  { session, client }: Context,
  args: { threadId: number; singleThread?: boolean; granularity?: DebugProtocol.SteppingGranularity },
  how: { step?: 'over' | 'in' | 'out'; target?: number } = {},
): Promise<void> {
  const task = session.engine.tasks.get(args.threadId);
  const { granularity } = args;
  const way = { ...how, ...(granularity && how.step ? { granularity } : {}) };
  await session.engine.proceed(task, way, args.singleThread ?? false, client.id);
}

export const stepInTargets: Handler<'stepInTargets'> = async ({ session, client, signal }, args) => {
  const { task } = client.frame(args.frameId);
  const { targets } = await session.engine.inspect(task, 'stepTargets', {}, signal);
  return {
    targets: targets.map(({ id, label, line }) => ({
      id,
      label,
      ...(line === undefined ? {} : { line: client.lineTo(line) }),
    })),
  };
};

/** Every task stops at its next boundary; a number of no task stands for the whole app, too. */
export const pause: Handler<'pause'> = ({ session }, args) => {
  const known = session.engine.tasks.all().find((task) => task.thread === args.threadId);
  if (!known && args.threadId !== WHOLE_APP && args.threadId !== 0) {
    throw new UserError('This task has ended.');
  }
  return session.engine.pause();
};

export const restartFrame: Handler<'restartFrame'> = async ({ session, client }, args) => {
  const { task, frame } = client.frame(args.frameId);
  if (!holdOf(task).frames.find((one) => one.id === frame)?.canRestart) {
    throw new UserError('This call cannot be run again from its start. Only the held call can.');
  }
  await session.engine.release(task, { action: 'restart' }, { client: client.id, answered: true });
};

/** The only place to jump to is past the held call. */
export const gotoTargets: Handler<'gotoTargets'> = ({ session, client }, args) => {
  const path = realPath(client.pathFrom(args.source.path ?? ''));
  const line = client.lineFrom(args.line);
  const targets: DebugProtocol.GotoTarget[] = [];
  for (const task of session.engine.tasks.held()) {
    const [top] = task.hold?.frames ?? [];
    if (
      task.hold?.boundary === 'before' &&
      top?.path !== undefined &&
      realPath(top.path) === path &&
      line >= top.line &&
      line <= (top.endLine ?? top.line)
    ) {
      targets.push({ id: client.frameHandle(task, top.id), label: `Skip ${top.name}`, line: args.line });
    }
  }
  return { targets };
};

export const goto: Handler<'goto'> = ({ session, client }, args) => {
  const { task } = client.frame(args.targetId);
  if (task.thread !== args.threadId) {
    throw new UserError('This place is of another task. Ask again where it can go.');
  }
  return session.engine.release(task, { action: 'skip' }, { client: client.id, answered: true });
};

export const terminateThreads: Handler<'terminateThreads'> = async ({ session, client }, args) => {
  const tasks = (args.threadIds ?? []).map((thread) => session.engine.tasks.get(thread));
  const running = tasks.find((task) => !task.hold);
  if (running) {
    throw new UserError(`${taskTitle(running)} is running. Pause it first, then cancel it.`);
  }
  await Promise.all(
    tasks.map((task) => session.engine.release(task, { action: 'cancel' }, { client: client.id, answered: false })),
  );
};
