import type { Frame, Hold } from '../../../protocol/control';
import type { StopReason } from './quirks';

interface Stopped {
  id: number;
  /** The thread, and what it is called. */
  task: number;
  taskName: string;
}

/** A thread that stopped for a reason of its own. `page`: its innermost frames; absent where they are asked for, or follow. */
export function stoppedThread(
  stopped: Stopped,
  why: StopReason,
  breakpoints: number[],
  page?: { frames: Frame[]; more: boolean },
): Hold {
  const { reason, description, text } = why;
  return {
    ...standing(stopped),
    reason,
    description,
    ...(text ? { text } : {}),
    breakpoints,
    ...(page && { frames: page.frames, moreFrames: page.more }),
  };
}

/** A thread that stands still because another one stopped. */
export function stoppedAlong(stopped: Stopped): Hold {
  return { ...standing(stopped), reason: 'pause', description: 'Stands still with its program' };
}

function standing(stopped: Stopped): Omit<Hold, 'reason' | 'description'> {
  return { ...stopped, boundary: 'line', whole: true, native: true, breakpoints: [], frames: [], moreFrames: true };
}
