import type { ValuePlace } from '../../../protocol/timeline';
import { UserError } from '../../common/errors';

/** Parameters as they came: nothing about them is sure. */
export type Params = Record<string, unknown>;

const LONGEST_TEXT = 64 * 1024;
const LONGEST_LIST = 4_000;

export function textIn(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== 'string' || value.length > LONGEST_TEXT || value.includes('\0'))
    throw new UserError(`"${name}" must be text.`);
  return value;
}

export function numberIn(params: Params, name: string, least = -Infinity): number {
  const value = params[name];
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least)
    throw new UserError(`"${name}" must be a number${least === -Infinity ? '' : ` of at least ${least}`}.`);
  return value;
}

export function numbersIn(params: Params, name: string): number[] {
  const value = params[name];
  if (!Array.isArray(value) || value.length > LONGEST_LIST || !value.every((item) => Number.isSafeInteger(item)))
    throw new UserError(`"${name}" must be a list of whole numbers.`);
  return value as number[];
}

export function textsIn(params: Params, name: string): string[] {
  const value = params[name];
  if (!Array.isArray(value) || value.length > LONGEST_LIST || !value.every((item) => typeof item === 'string')) {
    throw new UserError(`"${name}" must be a list of texts.`);
  }
  return value;
}

export function optionalTexts(params: Params, name: string): string[] | undefined {
  return params[name] === undefined || params[name] === null ? undefined : textsIn(params, name);
}

export function placeIn(params: Params): ValuePlace {
  return { value: numberIn(params, 'value', -Number.MAX_SAFE_INTEGER), path: textsIn(params, 'path') };
}

/** A place that may be left out. */
export function optionalPlace(params: Params, name: string): ValuePlace | undefined {
  const place = params[name];
  if (place === undefined || place === null) return undefined;
  if (typeof place !== 'object' || Array.isArray(place)) throw new UserError(`"${name}" must say where a value is.`);
  return placeIn(place as Params);
}
