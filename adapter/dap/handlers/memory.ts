import type { DebugProtocol } from '@vscode/debugprotocol';
import { UserError } from '../../common/errors';
import { fromMemoryReference, memoryReference } from '../present/memory';
import { presentBreakpoint } from '../present/breakpoint';
import { sourceOf } from '../present/stack';
import type { Handler } from '../requests';
import { withConditions } from './breakpoints';

export const readMemory: Handler<'readMemory'> = async ({ session, signal }, args) => {
  const { process, reference } = fromMemoryReference(session.engine, args.memoryReference);
  if (args.count <= 0) {
    return { address: reference };
  }
  const asked = { reference, count: args.count, ...(args.offset === undefined ? {} : { offset: args.offset }) };
  const { address, data, unreadable } = await session.engine.request(process, 'readMemory', asked, signal);
  return { address, ...(data ? { data } : {}), ...(unreadable ? { unreadableBytes: unreadable } : {}) };
};

export const writeMemory: Handler<'writeMemory'> = async ({ session, client, signal }, args) => {
  const { process, reference } = fromMemoryReference(session.engine, args.memoryReference);
  const held = session.engine.tasks.held().find((task) => task.process === process);
  if (!held) {
    throw new UserError('The program is running. Pause it first.');
  }
  const { written } = await session.engine.request(
    process,
    'writeMemory',
    { reference, data: args.data, client: client.id, ...(args.offset === undefined ? {} : { offset: args.offset }) },
    signal,
  );
  session.noteEdit(held, `memory at ${reference}`, client);
  await session.engine.refresh(held);
  return { bytesWritten: written };
};

export const disassemble: Handler<'disassemble'> = async ({ session, client, signal }, args) => {
  const { process, reference } = fromMemoryReference(session.engine, args.memoryReference);
  const { instructions } = await session.engine.request(
    process,
    'disassemble',
    {
      reference,
      count: args.instructionCount,
      ...(args.offset === undefined ? {} : { offset: args.offset }),
      ...(args.instructionOffset === undefined ? {} : { instructionOffset: args.instructionOffset }),
    },
    signal,
  );
  return {
    instructions: instructions.map(
      ({ address, bytes, text, symbol, path, line }): DebugProtocol.DisassembledInstruction => ({
        address,
        instruction: text,
        ...(bytes ? { instructionBytes: bytes } : {}),
        ...(symbol && args.resolveSymbols !== false ? { symbol } : {}),
        ...(path ? { location: sourceOf(client, path, false) } : {}),
        ...(line === undefined ? {} : { line: client.lineTo(line) }),
      }),
    ),
  };
};

export const setInstructionBreakpoints: Handler<'setInstructionBreakpoints'> = async ({ session, client }, args) => {
  const views = await session.engine.setBreakpoints(
    client.id,
    'instruction',
    args.breakpoints.map((one) => {
      const reference = one.instructionReference.replace(/^\d+@/, '');
      return withConditions(one, {
        enabled: true,
        target: { type: 'instruction', reference, ...(one.offset === undefined ? {} : { offset: one.offset }) },
        boundaries: ['before'],
      });
    }),
  );
  return {
    breakpoints: views.map((view, index) => ({
      ...presentBreakpoint(client, view),
      ...(args.breakpoints[index] ? { instructionReference: args.breakpoints[index].instructionReference } : {}),
    })),
  };
};

export const modules: Handler<'modules'> = async ({ session, signal }, args) => {
  const lists = await Promise.all(
    session.engine.processes
      .filter(({ hello }) => hello.language === 'native')
      .map(async (process) => {
        const { modules } = await session.engine.request(process, 'modules', {}, signal);
        return modules.map(({ id, name, path, version, symbols, range }): DebugProtocol.Module => ({
          id: memoryReference(process, id),
          name,
          ...(path ? { path } : {}),
          ...(version ? { version } : {}),
          ...(symbols ? { symbolStatus: symbols } : {}),
          ...(range ? { addressRange: range } : {}),
        }));
      }),
  );
  const all = lists.flat();
  const start = args.startModule ?? 0;
  const end = args.moduleCount ? start + args.moduleCount : undefined;
  return { modules: all.slice(start, end), totalModules: all.length };
};
