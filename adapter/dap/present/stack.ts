import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ExceptionInfo, Frame, Hold } from '../../../protocol/control';
import { taskTitle, type Task } from '../../engine/tasks';
import type { Client } from '../client';
import { memoryReference } from './memory';

/** `support_agent › check_stock — in llm:gpt-x, 12 s`: stacks are asked only of held threads, so a running one's name says where it is. */
export function threadName(task: Task): string {
  return !task.hold && task.where ? `${taskTitle(task)} — ${task.where}` : taskTitle(task);
}

/**
 * `lookup_order(order_id=7) · tool, before`. Where the client says `Paused before tool` beside the thread, the frame that is meant does not
 * say it again: there is little room.
 */
function frameName(client: Client, hold: Hold | undefined, frame: Frame): string {
  let { detail } = frame;
  if (client.saysWhyHeld && hold !== undefined && frame.call !== undefined && frame.call === hold.call) {
    detail = detail.replace(new RegExp(`,? ?${hold.boundary}$`), '');
    if (hold.description.split(' ').includes(detail)) {
      detail = '';
    }
  }
  return detail ? `${frame.name} · ${detail}` : frame.name;
}

export function sourceOf(client: Client, path: string, subtle: boolean): DebugProtocol.Source {
  return {
    name: basename(path.replaceAll('\\', '/')),
    path: client.pathTo(path),
    ...(subtle ? { presentationHint: 'deemphasize' as const } : {}),
  };
}

export function presentFrame(client: Client, task: Task, frame: Frame): DebugProtocol.StackFrame {
  const { subtle } = frame;
  const here =
    frame.path && frame.line > 0
      ? { source: sourceOf(client, frame.path, subtle), line: client.lineTo(frame.line) }
      : { line: 0 };
  return {
    id: client.frameHandle(task, frame.id),
    name: frameName(client, task.hold, frame),
    ...here,
    // Column 0 says that the whole line is meant; VS Code wants a 1 to put the marker on the line.
    column: 'source' in here ? client.columnTo(frame.column ?? 1) : 0,
    ...(frame.instruction ? { instructionPointerReference: memoryReference(task.process, frame.instruction) } : {}),
    canRestart: frame.canRestart,
    presentationHint: subtle ? 'subtle' : 'normal',
  };
}

export function presentException(info: ExceptionInfo): DebugProtocol.ExceptionInfoResponse['body'] {
  return {
    exceptionId: info.type,
    description: info.message,
    breakMode: info.uncaught ? 'unhandled' : 'always',
    details: details(info),
  };
}

function details(info: ExceptionInfo): DebugProtocol.ExceptionDetails {
  return {
    message: info.message,
    typeName: info.type,
    fullTypeName: info.fullType,
    stackTrace: info.stackTrace,
    ...(info.inner ? { innerException: [details(info.inner)] } : {}),
  };
}
