import { createContext, Script } from 'node:vm';
import { UserError } from '../../common/errors';
import { shorten } from '../reader/text';

/** A mistake in the question, which is found only when it meets what was recorded. */
export class TooSlow extends UserError {}

/** Longest pattern, and how much of one text is looked at. */
const LONGEST_PATTERN = 1000;
export const LONGEST_TEXT = 64 * 1024;

/** Milliseconds that all matching of one question may take. */
const ALLOWED = 2000;

/**
 * Runs the regular expressions of one question. Some expressions take time that grows without bounds on the wrong text, and the engine
 * cannot tell which: so they run in a context that the engine itself stops (it looks for that between two steps back), texts are
 * cut, and all of a question's matching has one allowance. Texts are tested many at a time, since a guarded run costs a fifth of a millisecond.
 */
export class Patterns {
  private left: number;
  private readonly work: { run?: () => void } = {};
  private script: Script | undefined;

  constructor(allowed = ALLOWED) {
    this.left = allowed;
  }

  /** Throws a `UserError` for what is no regular expression. */
  compile(source: string): RegExp {
    if (source.length > LONGEST_PATTERN)
      throw new UserError(
        `A regular expression has at most ${LONGEST_PATTERN} characters; this one has ${source.length}.`,
      );
    try {
      return new RegExp(source);
    } catch (error) {
      const reason =
        error instanceof Error ? error.message.replace(/^Invalid regular expression: (\/.*\/\w*: )?/s, '') : '';
      throw new UserError(`"${shorten(source, 80)}" is no regular expression: ${reason}.`);
    }
  }

  /** For each group whether one of its texts matches. Throws a `UserError` when it takes too long. */
  test(pattern: RegExp, groups: readonly (readonly string[])[]): boolean[] {
    const results = groups.map(() => false);
    this.guarded(pattern, () => {
      for (let at = 0; at < groups.length; at++) {
        for (const text of groups[at]!) {
          if (!pattern.test(text)) continue;
          results[at] = true;
          break;
        }
      }
    });
    return results;
  }

  private guarded(pattern: RegExp, run: () => void): void {
    this.work.run = run;
    this.script ??= new Script('run()');
    const context = createContext(this.work);
    const begun = performance.now();
    try {
      this.script.runInContext(context, { timeout: Math.max(1, Math.ceil(this.left)) });
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      throw new TooSlow(
        `The regular expression ${shorten(pattern.source, 80)} takes too long on what was recorded. Make it simpler; repeats within repeats, such as (a+)+, are what takes so long.`,
      );
    } finally {
      this.left -= performance.now() - begun;
    }
  }
}
