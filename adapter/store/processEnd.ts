import type { Ended } from '../common/signals';
import type { Recorder } from './recorder';

/**
 * Records that a process is gone. `crashed`: it did not say goodbye. `ended` tells how, where whoever asks is its parent; of other processes of the
 * app nobody can know whether they were killed, or left by `os._exit` as forked ones do.
 */
export function recordEnd(
  recorder: Recorder,
  index: number,
  crashed: boolean,
  ended?: Promise<Ended | undefined>,
): void {
  const tell = (name: string | undefined): void => {
    recorder.processEnded(index, undefined);
    if (name !== undefined) recorder.event(name, undefined, { process: index });
  };
  if (!crashed || ended === undefined) return tell(crashed ? 'crashed' : undefined);
  void ended.then((how) => {
    if (how === undefined) tell('lost');
    else recordKnownEnd(recorder, index, how);
  });
}

/** Records the end of a process whose parent we are; `wall`: when it was, in nanoseconds, if not now. */
export function recordKnownEnd(recorder: Recorder, index: number, { code, signal }: Ended, wall?: bigint): void {
  recorder.processEnded(index, code, wall);
  if (code === undefined) recorder.event('crashed', undefined, { process: index, ...(signal && { signal }) });
}
