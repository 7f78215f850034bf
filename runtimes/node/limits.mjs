import { joined } from './joined.mjs';

/** Bytes that a value may take; what is beyond carries a mark. */
export const MAX_VALUE_BYTES = joined?.maxValueBytes ?? 1024 * 1024;
/** Bytes that containers of a few small values may take beyond that, all together: as much more as the last one takes that begins within them. */
export const MAX_RESERVE_BYTES = Math.min(8192, MAX_VALUE_BYTES);
/** What is kept of bytes that do not fit: no program takes half a file, a person looks at its beginning, and what lies beside it has room then. */
export const MAX_CUT_BYTES = 16 * 1024;
export const MAX_DEPTH = joined?.maxDepth ?? 100;
/** Milliseconds that may be spent on one value. */
export const MAX_TIME = 250;
/** Bytes that the files of one process may take. */
export const MAX_SPOOL_BYTES = 2 * 1024 ** 3;
