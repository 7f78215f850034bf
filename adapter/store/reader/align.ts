import type { Child } from './children';

/** A part of two values: as it is on each side, or on one alone. */
export interface Pair {
  before?: Child;
  after?: Child;
}

/** Places of the table that finds the longest common part of two lists. */
const MOST_PLACES = 250_000;
/** Elements put in and taken out of larger lists that are found; where there are more, they are compared place by place. */
const MOST_STEPS = 1000;

type Elements = readonly Child[];
type Test = (one: Child, other: Child) => boolean;
/** Places of elements of both that belong together, in order. */
export type Common = (readonly [number, number])[];

/**
 * Two lists beside each other: equal elements in one row, also where others were put in or taken out before them. Between these, what is
 * `likely` the same element changed is in one row too. `known`: where elements have names, it says alone which are the same.
 */
export function align(
  olds: Elements,
  news: Elements,
  equal: Test,
  likely: Test,
  known: (olds: Elements, news: Elements) => Common | undefined = () => undefined,
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
  const [left, right] = [olds.slice(front, olds.length - back), news.slice(front, news.length - back)];
  const named = known(left, right);
  if (named === undefined) middle(left, right, longestCommon(left, right, equal), likely, pairs);
  else middle(left, right, named, () => false, pairs);
  for (let index = back; index > 0; index--) both(olds.length - index, news.length - index);
  return pairs;
}

function middle(olds: Elements, news: Elements, common: Common, likely: Test, pairs: Pair[]): void {
  let [left, right] = [0, 0];
  for (const [one, other] of [...common, [olds.length, news.length] as const]) {
    gap(olds.slice(left, one), news.slice(right, other), likely, pairs);
    if (one < olds.length) pairs.push({ before: olds[one]!, after: news[other]! });
    [left, right] = [one + 1, other + 1];
  }
}

/** Elements without an equal one: in pairs as far as they are likely the same, then what is left of either. */
function gap(olds: Elements, news: Elements, likely: Test, pairs: Pair[]): void {
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
function longestCommon(olds: Elements, news: Elements, equal: Test): Common {
  return olds.length * news.length > MOST_PLACES ? byFewSteps(olds, news, equal) : byTable(olds, news, equal);
}

function byTable(olds: Elements, news: Elements, equal: Test): Common {
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
  const common: Common = [];
  for (let one = 0, other = 0; one < olds.length && other < news.length;) {
    const place = one * width + other;
    if (matches[place] === 1) common.push([one++, other++]);
    else if (lengths[place + width]! >= lengths[place + 1]!) one++;
    else other++;
  }
  return common;
}

/** By the fewest steps from one list to the other (Myers); none where these are too many. */
function byFewSteps(olds: Elements, news: Elements, equal: Test): Common {
  // Of each difference of places, how far in the old list so many steps lead.
  const reached = new Int32Array(2 * MOST_STEPS + 3);
  const at = (difference: number): number => difference + MOST_STEPS + 1;
  const rounds: Int32Array[] = [];
  for (let steps = 0; steps <= MOST_STEPS; steps++) {
    rounds.push(reached.slice(at(-steps - 1), at(steps + 1) + 1));
    for (let difference = -steps; difference <= steps; difference += 2) {
      const [less, more] = [reached[at(difference - 1)]!, reached[at(difference + 1)]!];
      let one = isPutIn(difference, steps, less, more) ? more : less + 1;
      let other = one - difference;
      while (one < olds.length && other < news.length && equal(olds[one]!, news[other]!)) {
        one++;
        other++;
      }
      reached[at(difference)] = one;
      if (one >= olds.length && other >= news.length) return wayBack(rounds, olds.length, news.length);
    }
  }
  return [];
}

/** Whether the last of so many steps puts an element in; else it takes one out. */
function isPutIn(difference: number, steps: number, less: number, more: number): boolean {
  return difference === -steps || (difference !== steps && less < more);
}

function wayBack(rounds: readonly Int32Array[], olds: number, news: number): Common {
  const common: Common = [];
  let [one, other] = [olds, news];
  const passEqual = (until: number): void => {
    while (one > until) common.push([--one, --other]);
  };
  for (let steps = rounds.length - 1; steps > 0; steps--) {
    const reached = rounds[steps]!;
    const difference = one - other;
    const [less, more] = [reached[difference + steps]!, reached[difference + steps + 2]!];
    const putIn = isPutIn(difference, steps, less, more);
    passEqual(putIn ? more : less + 1);
    if (putIn) other--;
    else one--;
  }
  passEqual(0);
  return common.reverse();
}
