import * as vscode from 'vscode';
import { DEBUG_TYPE } from './constants';
import { messageOf, say } from './log';
import { ask, type Sessions } from './sessions';

/** A held task, as DAP names it. */
interface Held {
  session: vscode.DebugSession;
  threadId: number;
}

/** Commands of the call stack's context menu and of the palette for the held call. */
export function heldCommands(sessions: Sessions): vscode.Disposable {
  const command = (id: string, run: (held: Held) => Promise<unknown>) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      const held = heldOf(sessions, args);
      if (held === undefined) {
        say('warning', 'No call is held. Stop at one first, then choose it in the Call Stack.');
        return;
      }
      try {
        await run(held);
      } catch (error) {
        say('error', messageOf(error));
      }
    });
  return vscode.Disposable.from(
    command('toolbreak.skip', skip),
    command('toolbreak.again', ({ session, threadId }) => ask(session, 'toolbreak/again', { threadId })),
    command('toolbreak.cancel', ({ session, threadId }) => ask(session, 'toolbreak/cancel', { threadId })),
  );
}

/** Asks for a result. What the app refuses, such as a mistake in the expression, is said in the box, and what was typed stays. */
function skip({ session, threadId }: Held): Promise<void> {
  const box = vscode.window.createInputBox();
  Object.assign(box, {
    title: 'Skip This Call',
    prompt: 'Result in place of the call, as a Python expression. The call does not run.',
    value: 'None',
    valueSelection: [0, 4],
    ignoreFocusOut: true,
  } satisfies Partial<vscode.InputBox>);
  const take = async (): Promise<void> => {
    if (box.busy) return;
    const result = box.value.trim();
    box.busy = true;
    try {
      await ask(session, 'toolbreak/skip', { threadId, ...(result === '' ? {} : { result }) });
      box.hide();
    } catch (error) {
      box.validationMessage = messageOf(error);
    } finally {
      box.busy = false;
    }
  };
  const ended = vscode.debug.onDidTerminateDebugSession(({ id }) => void (id === session.id && box.hide()));
  return new Promise((resolve) => {
    box.onDidAccept(take);
    box.onDidChangeValue(() => (box.validationMessage = undefined));
    box.onDidHide(() => {
      ended.dispose();
      box.dispose();
      resolve();
    });
    box.show();
  });
}

/** The menu names its thread; from the palette and the toolbar it is the one with the focus. */
function heldOf(sessions: Sessions, args: unknown[]): Held | undefined {
  for (const arg of args) {
    if (typeof arg !== 'object' || arg === null) continue;
    const { sessionId, threadId } = arg as { sessionId?: unknown; threadId?: unknown };
    const session = typeof sessionId === 'string' ? sessions.byId(sessionId) : undefined;
    const number = threadNumber(threadId);
    if (session !== undefined && number !== undefined) return { session, threadId: number };
  }
  const item = vscode.debug.activeStackItem;
  if (item === undefined || item.session.type !== DEBUG_TYPE) return undefined;
  return { session: item.session, threadId: item.threadId };
}

/** `thread:<session id>:<number>` in menus, or the number itself. */
export function threadNumber(id: unknown): number | undefined {
  if (typeof id === 'number') return id;
  const digits = typeof id === 'string' ? /(?:^|:)(\d+)$/.exec(id)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}
