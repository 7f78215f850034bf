import type { DebugProtocol } from '@vscode/debugprotocol';
import { UserError } from '../../common/errors';
import type { Handler } from '../requests';

/** A source's number says its process and its number there. */
const PER_PROCESS = 100_000;

export const loadedSources: Handler<'loadedSources'> = async ({ session, signal }) => {
  const lists = await Promise.all(
    session.engine.processes.map(async (process) => {
      const { sources } = await session.engine.request(process, 'sources', {}, signal).catch((error: unknown) => {
        // One that ended meanwhile has no sources any more.
        if (session.engine.processes.includes(process)) {
          throw error;
        }
        return { sources: [] };
      });
      return sources.map((source): DebugProtocol.Source => ({
        name: source.name,
        sourceReference: process.index * PER_PROCESS + source.id,
        origin: source.mimeType,
      }));
    }),
  );
  return { sources: lists.flat() };
};

export const source: Handler<'source'> = async ({ session, signal }, args) => {
  const reference = args.source?.sourceReference ?? args.sourceReference;
  const process = session.engine.processes.find((one) => one.index === Math.floor(reference / PER_PROCESS));
  if (!process) {
    throw new UserError('This text is gone: its process ended.');
  }
  const { text, mimeType } = await session.engine.request(process, 'source', { id: reference % PER_PROCESS }, signal);
  return { content: text, mimeType };
};
