import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { MistakeError } from '../../common/errors';
import type { DelegateClient } from '../delegate/client';
import { hasDebugInformation } from './binary';
import { projectPath, shortPlace, withoutLinks, type Place } from './places';

/**
 * Sets a breakpoint on every place. Answers those that no code is loaded for, but may be with a library. Throws a sentence, with what to do, for the first that
 * is no line with code of its own.
 */
export async function bindPlaces(client: DelegateClient, places: readonly Place[], project: string): Promise<Place[]> {
  const missing: Place[] = [];
  for (const file of new Set(places.map((place) => place.file))) {
    const here = places.filter((place) => place.file === file);
    let bound = await set(client, file, here);
    const real = withoutLinks(file);
    if (real !== file && bound.some((one) => !one?.verified)) {
      // The compiler noted the path that it was given, or the one that the links lead to.
      await set(client, file, []);
      bound = await set(client, real, here);
    }
    for (const [index, place] of here.entries()) {
      const breakpoint = bound[index];
      if (breakpoint?.id !== undefined) place.id = breakpoint.id;
      if (!breakpoint?.verified) missing.push(place);
      else if (breakpoint.line !== undefined && breakpoint.line !== place.line)
        throw noCode(place, breakpoint.line, project);
    }
  }
  return missing;
}

async function set(
  client: DelegateClient,
  path: string,
  places: readonly Place[],
): Promise<(P.Breakpoint | undefined)[]> {
  const source = { path, name: basename(path) };
  const breakpoints = places.map(({ line }) => ({ line }));
  return (await client.request('setBreakpoints', { source, breakpoints })).breakpoints;
}

function noCode(place: Place, next: number, project: string): MistakeError {
  const file = projectPath(place.file, project);
  return new MistakeError(`${file}:${place.line} has no code of its own. The next line with code is ${file}:${next}.`);
}

/** Why there is no code for a place, and what to do. */
export function unbindable(place: Place, program: string, project: string): MistakeError {
  const named = `${projectPath(place.file, project)}:${place.line}`;
  const name = basename(program);
  if (hasDebugInformation(program) === false)
    return new MistakeError(
      `${named} cannot be found in ${name}, which has no debug information. Compile it with -g -O0, and do not strip it.`,
    );
  if (!existsSync(place.file))
    return new MistakeError(
      `There is no file ${projectPath(place.file, project)} in ${project}, and ${name} knows none. Name files relative to the folder you are in.`,
    );
  return new MistakeError(
    `${named} is no line of ${name}. Check that the program was compiled from this file, from this path and since its last change, and that ${shortPlace(place)} holds code. It may stand in a library, if that is loaded when main begins.`,
  );
}
