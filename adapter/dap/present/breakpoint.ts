import type { DebugProtocol } from '@vscode/debugprotocol';
import type { BreakpointView } from '../../engine/breakpoints';
import type { Client } from '../client';
import { sourceOf } from './stack';

export function presentBreakpoint(client: Client, view: BreakpointView): DebugProtocol.Breakpoint {
  const target = view.spec?.target;
  // Where it is bound, else where the person put it.
  const path = view.path ?? (target?.type === 'source' ? target.path : undefined);
  const line = view.line ?? (target?.type === 'source' ? target.line : undefined);
  return {
    id: view.id,
    verified: view.verified,
    ...(view.message ? { message: view.message } : {}),
    ...(view.verified ? {} : { reason: 'pending' as const }),
    ...(path ? { source: sourceOf(client, path, false) } : {}),
    ...(line === undefined ? {} : { line: client.lineTo(line) }),
    ...(view.endLine === undefined ? {} : { endLine: client.lineTo(view.endLine) }),
  };
}
