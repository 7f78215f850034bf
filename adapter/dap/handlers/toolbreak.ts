import { UserError } from '../../common/errors';
import { callOfFrame, holdOf, taskTitle } from '../../engine/tasks';
import type { Handler } from '../requests';

export const skip: Handler<'toolbreak/skip'> = async ({ session, client }, args) => {
  const task = session.engine.tasks.get(args.threadId);
  const way = { action: 'skip' as const, ...(args.result?.trim() ? { result: args.result } : {}) };
  await session.engine.release(task, way, { client: client.id, answered: false });
  return {};
};

export const again: Handler<'toolbreak/again'> = async ({ session, client }, args) => {
  const task = session.engine.tasks.get(args.threadId);
  if (holdOf(task).boundary === 'before') {
    throw new UserError(
      'This call has not run yet. Continue (F5) runs it; after it, or at its error, it can be run again.',
    );
  }
  await session.engine.release(task, { action: 'again' }, { client: client.id, answered: false });
  return {};
};

export const cancelCall: Handler<'toolbreak/cancel'> = async ({ session, client }, args) => {
  const task = session.engine.tasks.get(args.threadId);
  await session.engine.release(task, { action: 'cancel' }, { client: client.id, answered: false });
  return {};
};

export const status: Handler<'toolbreak/status'> = ({ session }) => ({
  session: session.id,
  run: session.place?.run ?? '',
  ...(session.recording && session.place ? { runFile: session.place.runFile } : {}),
  runsFolder: session.place?.runsFolder ?? '',
  logs: session.logs,
  holds: session.engine.tasks.held().map((task) => ({
    threadId: task.thread,
    name: taskTitle(task),
    description: task.hold?.description ?? '',
    line: task.hold?.boundary === 'line',
  })),
  processes: session.engine.processes.map(({ hello }) => ({ pid: hello.pid, name: hello.name })),
});

export const frameCall: Handler<'toolbreak/frameCall'> = ({ client }, args) => {
  const { task, frame } = client.frame(args.frameId);
  const found = task.hold?.frames.find((one) => one.id === frame);
  const call = found && callOfFrame(task, found);
  return call === undefined ? {} : { call };
};

export const callFrame: Handler<'toolbreak/callFrame'> = ({ session }, args) => {
  for (const task of session.engine.tasks.held()) {
    const frameIndex = task.hold?.frames.findIndex((one) => callOfFrame(task, one) === args.call) ?? -1;
    if (frameIndex >= 0) {
      return { threadId: task.thread, frameIndex };
    }
  }
  return {};
};

export const names: Handler<'toolbreak/names'> = async ({ session }) => ({ names: await session.engine.names() });
