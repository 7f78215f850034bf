import type { Query } from '../../../protocol/query';

/** How the fields of a query are typed; a name in three ways, each by itself. */
export const FLAGS = {
  types: '--type',
  kinds: '--kind',
  file: '--file',
  status: '--status',
  error: '--error',
  where: '--where',
  text: '--text',
  task: '--task',
  process: '--process',
  from: '--from',
  to: '--to',
  minimumDuration: '--min-duration',
  order: '--order',
  limit: '--limit',
  cursor: '--cursor',
} as const satisfies Partial<Record<keyof Query, string>>;
