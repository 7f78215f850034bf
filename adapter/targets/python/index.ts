import type { AttachAttributes, LaunchAttributes } from '../../../protocol/launch';
import type { Log } from '../../common/log';
import { AttachTarget } from './attach';
import { LaunchTarget, type TerminalRequest } from './launch';

export type PythonRequest = (
  { mode: 'launch'; attributes: LaunchAttributes; noDebug: boolean } | { mode: 'attach'; attributes: AttachAttributes }
) & {
  spoolFolder?: string;
  runInTerminal?: (request: TerminalRequest) => Promise<{ processId?: number; shellProcessId?: number }>;
};

/** A fresh target for a launch or attach request. Nothing is started yet. */
export function makePythonTarget(request: PythonRequest, log: Log): LaunchTarget | AttachTarget {
  return request.mode === 'launch' ? new LaunchTarget({ ...request, log }) : new AttachTarget({ ...request, log });
}

export { AttachTarget, LaunchTarget };
