import type { Child } from './children';

/** A part of two values: as it is on each side, or on one alone. */
export interface Pair {
  before?: Child;
  after?: Child;
}

/** Places of the table that finds the longest common part of two lists; larger ones are compared place by place. */
const MOST_PLACES = 250_000;

/**
 * Two lists beside each other: equal elements in one row, also where others were put in or taken out before them. Between these, what is
 * `likely` the same element changed is in one row too.
 */
export function align(
  olds: readonly Child[],
  news: readonly Child[],
  equal: (one: Child, other: Child) => boolean,
  likely: (one: Child, other: Child) => boolean,
): Pair[] {
  const shorter = Math.min(olds.length, news.length);
  let front = 0;
  while (front < shorter && equal(olds[front]!, news[front]!)) front++;
  let back = 0;
  while (back < shorter - front && equal(olds[olds.length - 1 - back]!, news[news.length - 1 - back]!)) back++;
  const pairs: Pair[] = [];
  const both = (one: number, other: number): void => {
    pairs.push({ before: olds[one]!, after: news[other]! });
  };
  for (let index = 0; index < front; index++) both(index, index);
  middle(olds.slice(front, olds.length - back), news.slice(front, news.length - back), equal, likely, pairs);
  for (let index = back; index > 0; index--) both(olds.length - index, news.length - index);
  return pairs;
}

function middle(
  olds: readonly Child[],
  news: readonly Child[],
  equal: (one: Child, other: Child) => boolean,
  likely: (one: Child, other: Child) => boolean,
  pairs: Pair[],
): void {
  const common = olds.length * news.length > MOST_PLACES ? [] : longestCommon(olds, news, equal);
  let [left, right] = [0, 0];
  for (const [one, other] of [...common, [olds.length, news.length] as const]) {
    gap(olds.slice(left, one), news.slice(right, other), likely, pairs);
    if (one < olds.length) pairs.push({ before: olds[one]!, after: news[other]! });
    [left, right] = [one + 1, other + 1];
  }
}

/** Elements without an equal one: in pairs as far as they are likely the same, then what is left of either. */
function gap(
  olds: readonly Child[],
  news: readonly Child[],
  likely: (one: Child, other: Child) => boolean,
  pairs: Pair[],
): void {
  for (let index = 0; index < Math.max(olds.length, news.length); index++) {
    const [before, after] = [olds[index], news[index]];
    if (before !== undefined && after !== undefined && likely(before, after)) pairs.push({ before, after });
    else {
      if (before !== undefined) pairs.push({ before });
      if (after !== undefined) pairs.push({ after });
    }
  }
}

/** Places of the equal elements of both, in order, as many as there can be. */
function longestCommon(
  olds: readonly Child[],
  news: readonly Child[],
  equal: (one: Child, other: Child) => boolean,
): (readonly [number, number])[] {
  const width = news.length + 1;
  const lengths = new Uint32Array((olds.length + 1) * width);
  const matches = new Uint8Array((olds.length + 1) * width);
  for (let one = olds.length - 1; one >= 0; one--) {
    for (let other = news.length - 1; other >= 0; other--) {
      const place = one * width + other;
      if (equal(olds[one]!, news[other]!)) {
        matches[place] = 1;
        lengths[place] = lengths[place + width + 1]! + 1;
      } else lengths[place] = Math.max(lengths[place + width]!, lengths[place + 1]!);
    }
  }
  const common: (readonly [number, number])[] = [];
  for (let one = 0, other = 0; one < olds.length && other < news.length;) {
    const place = one * width + other;
    if (matches[place] === 1) common.push([one++, other++]);
    else if (lengths[place + width]! >= lengths[place + 1]!) one++;
    else other++;
  }
  return common;
}
