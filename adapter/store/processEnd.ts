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
  const tell = (name: string | undefined, code?: number, signal?: string): void => {
    recorder.processEnded(index, code);
    if (name !== undefined) recorder.event(name, undefined, { process: index, ...(signal && { signal }) });
  };
  if (!crashed || ended === undefined) return tell(crashed ? 'crashed' : undefined);
  void ended.then((how) => {
    if (how?.code !== undefined) tell(undefined, how.code);
    else tell(how === undefined ? 'lost' : 'crashed', undefined, how?.signal);
  });
}
