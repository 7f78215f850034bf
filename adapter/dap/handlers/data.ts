import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ControlRequests, MemoryAccess } from '../../../protocol/control';
import { isStatePath } from '../../model/names';
import { fromMemoryReference } from '../present/memory';
import { presentBreakpoint } from '../present/breakpoint';
import type { Context, Handler } from '../requests';
import { withConditions } from './breakpoints';

const STATE = 'state:';
const MEMORY = 'memory:';
const ACCESSES: readonly MemoryAccess[] = ['read', 'write', 'readWrite'];

type Info = ControlRequests['dataInfo']['body'];

export const dataBreakpointInfo: Handler<'dataBreakpointInfo'> = async (context, args) => {
  const { session, client, signal } = context;
  if (args.variablesReference) {
    const { task, ref } = client.value(args.variablesReference);
    return presentInfo(await session.engine.inspect(task, 'dataInfo', { ref, name: args.name }, signal));
  }
  const native = await nativeInfo(context, args);
  if (native) {
    return presentInfo(native);
  }
  const path = args.name.replace(/^state\s*(?::\s*|\.|(?=\[))/, '').replace(/^\[(['"])([^'"\\]+)\1\]/, '$2');
  return isStatePath(path)
    ? watched(`${STATE}${path}`, `state ${path} is written`, ['write'])
    : refused('Only values in the state can be watched, such as state:verdict.');
};

/** An expression of a native frame, or an address. */
async function nativeInfo(
  { session, client, signal }: Context,
  { name, frameId, bytes, asAddress }: DebugProtocol.DataBreakpointInfoArguments,
): Promise<Info | undefined> {
  const size = bytes === undefined ? {} : { bytes };
  if (asAddress) {
    const { process, reference } = fromMemoryReference(session.engine, name);
    return session.engine.request(process, 'memoryInfo', { name: reference, asAddress, ...size }, signal);
  }
  if (frameId === undefined) {
    return undefined;
  }
  const { task, frame } = client.frame(frameId);
  return task.process.hello.language === 'native'
    ? session.engine.inspect(task, 'memoryInfo', { frame, name, ...size }, signal)
    : undefined;
}

function presentInfo({ path, description, data, accesses }: Info) {
  if (data !== undefined) {
    return { ...watched(`${MEMORY}${data}`, description, accesses ?? ACCESSES), canPersist: false };
  }
  return path === ''
    ? refused(description || 'Only values in the state can be watched.')
    : watched(`${STATE}${path}`, description, ['write']);
}

function watched(dataId: string, description: string, accesses: readonly MemoryAccess[]) {
  return { dataId, description, accessTypes: [...accesses], canPersist: true };
}

function refused(description: string) {
  return { dataId: null, description };
}

export const setDataBreakpoints: Handler<'setDataBreakpoints'> = async ({ session, client }, args) => {
  const views = await session.engine.setBreakpoints(
    client.id,
    'data',
    args.breakpoints.map((one) => {
      if (one.dataId.startsWith(MEMORY)) {
        const data = one.dataId.slice(MEMORY.length);
        const access = one.accessType ?? 'write';
        return withConditions(one, { enabled: true, target: { type: 'memory', data, access }, boundaries: ['before'] });
      }
      if (one.accessType && one.accessType !== 'write') {
        return { problem: 'A value in the state can be watched only for being written.' };
      }
      const path = one.dataId.startsWith(STATE) ? one.dataId.slice(STATE.length) : '';
      if (!isStatePath(path)) {
        return { problem: `"${one.dataId}" is not a value in the state.` };
      }
      return withConditions(one, { enabled: true, target: { type: 'data', path }, boundaries: ['after'] });
    }),
  );
  return { breakpoints: views.map((view) => presentBreakpoint(client, view)) };
};
