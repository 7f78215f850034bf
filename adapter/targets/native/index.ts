import type { AttachAttributes, LaunchAttributes } from '../../../protocol/launch';
import { isNativeAttach, isNativeLaunch } from './options';

export { DelegateStarter } from './ahead';
export type { EarlyDelegate } from './early';
export { NativeTarget } from './target';

/** Whether a request is for native code rather than for Python. */
export function isNative(
  request: { mode: 'launch'; attributes: LaunchAttributes } | { mode: 'attach'; attributes: AttachAttributes },
): boolean {
  return request.mode === 'launch' ? isNativeLaunch(request.attributes) : isNativeAttach(request.attributes);
}
