import { isStatePath } from '../../model/names';
import { presentBreakpoint } from '../present/breakpoint';
import type { Handler } from '../requests';
import { withConditions } from './breakpoints';

const PREFIX = 'state:';

export const dataBreakpointInfo: Handler<'dataBreakpointInfo'> = async ({ session, client, signal }, args) => {
  if (args.variablesReference) {
    const { task, ref } = client.value(args.variablesReference);
    const { path, description } = await session.engine.inspect(task, 'dataInfo', { ref, name: args.name }, signal);
    return path === ''
      ? refused(description || 'Only values in the state can be watched.')
      : watched(path, description);
  }
  const path = args.name.replace(/^state\s*(?::\s*|\.|(?=\[))/, '').replace(/^\[(['"])([^'"\\]+)\1\]/, '$2');
  return isStatePath(path)
    ? watched(path, `state ${path} is written`)
    : refused('Only values in the state can be watched, such as state:verdict.');
};

function watched(path: string, description: string) {
  return { dataId: `${PREFIX}${path}`, description, accessTypes: ['write' as const], canPersist: true };
}

function refused(description: string) {
  return { dataId: null, description };
}

export const setDataBreakpoints: Handler<'setDataBreakpoints'> = async ({ session, client }, args) => {
  const views = await session.engine.setBreakpoints(
    client.id,
    'data',
    args.breakpoints.map((one) => {
      if (one.accessType && one.accessType !== 'write') {
        return { problem: 'A value in the state can be watched only for being written.' };
      }
      const path = one.dataId.startsWith(PREFIX) ? one.dataId.slice(PREFIX.length) : '';
      if (!isStatePath(path)) {
        return { problem: `"${one.dataId}" is not a value in the state.` };
      }
      return withConditions(one, { enabled: true, target: { type: 'data', path }, boundaries: ['after'] });
    }),
  );
  return { breakpoints: views.map((view) => presentBreakpoint(client, view)) };
};
