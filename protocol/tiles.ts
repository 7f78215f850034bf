/**
 * What the lanes ask for. Each zoom level, a power of two of nanoseconds per pixel, is cut into tiles, so that panning and zooming back cost
 * nothing. The page and its host both know this: the host has the answers for the first picture ready when the page asks what to show.
 *
 * Times are nanoseconds since the run began, widths CSS pixels.
 */
import type { Known, Overview, Question, ReaderMethods } from './timeline';

/** Width of a tile in pixels at its own zoom level. A window needs one to three of them. */
const TILE_PIXELS = 2048;
const CALLS_PER_TILE = 5000;
/** A run of up to this many calls is fetched with every call, however short. */
export const SMALL_RUN = 5000;
/** A tile is cut into so many parts where its calls are counted, not drawn: a few pixels each. */
const PARTS = TILE_PIXELS / 4;
/** Lanes of one question. */
export const MOST_LANES = 200;
/** Closer than this there is nothing to see. */
export const NARROWEST = 200;
/** Free space right of the last call, as a part of the run. */
const MARGIN = 0.02;

export interface TilePlace {
  from: number;
  to: number;
  /** Nanoseconds per pixel. */
  scale: number;
}

/** Where the window of the whole run ends: with a little air at its right edge. */
export function wholeTo(end: number): number {
  return Math.max(NARROWEST, end * (1 + MARGIN));
}

/** The tiles of a window `width` pixels wide. */
export function tilesOf(from: number, to: number, width: number): TilePlace[] {
  const scale = 2 ** Math.max(0, Math.floor(Math.log2((to - from) / Math.max(1, width))));
  const span = scale * TILE_PIXELS;
  const tiles: TilePlace[] = [];
  for (let index = Math.floor(Math.max(0, from) / span); index * span <= to; index++)
    tiles.push({ from: index * span, to: (index + 1) * span, scale });
  return tiles;
}

/** What is asked for a tile. `small`: a run of which every call is fetched. */
export function barsOf(file: string, { from, to, scale }: TilePlace, small: boolean): ReaderMethods['bars']['params'] {
  // Half a pixel to a whole one, by how far the window is between two levels.
  const minimum = scale > 1 && !small ? scale : 0;
  // Where there are more than are answered at once, the reader keeps those that failed and the longest.
  return { file, from, to, minimum, limit: CALLS_PER_TILE };
}

/** How busy the lanes of these tasks are in a tile. */
export function densityOf(file: string, { from, to }: TilePlace, tasks: number[]): ReaderMethods['density']['params'] {
  return { file, from, to, buckets: PARTS, tasks };
}

/** Those of all lanes, if one question may have them: else nobody knows yet which will be on screen. */
export function allTasks(lanes: Overview['lanes']): number[] {
  return lanes.length <= MOST_LANES ? lanes.map(({ task }) => task) : [];
}

/** No screen is wider. */
const MOST_PIXELS = 100_000;

/** What the page asks first of a run that has ended: all of it. Of one that grows, the page's clock says what is shown. */
export function firstQuestions(file: string, { run, end, lanes }: Overview, width: number): Question[] {
  if (run.live || run.reading || run.problem !== undefined || !(width >= 1)) return [];
  const small = run.calls <= SMALL_RUN;
  const tasks = allTasks(lanes);
  return tilesOf(0, wholeTo(end), Math.min(width, MOST_PIXELS)).flatMap((tile) => [
    { method: 'bars' as const, params: barsOf(file, tile, small) },
    ...(small || tasks.length === 0 ? [] : [{ method: 'density' as const, params: densityOf(file, tile, tasks) }]),
  ]);
}

/** The same with the answers. None where that fails: the page hears why when it asks itself. */
export async function firstAnswers(
  file: string,
  overview: Overview,
  width: number,
  ask: <M extends Question['method']>(
    method: M,
    params: ReaderMethods[M]['params'],
  ) => Promise<ReaderMethods[M]['result']>,
): Promise<Known[]> {
  const asked = firstQuestions(file, overview, width).map(async (question) => ({
    ...question,
    result: await ask(question.method, question.params),
  }));
  return Promise.all(asked).catch(() => []);
}
