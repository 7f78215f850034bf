import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Breakpoint, BreakpointState, Configuration, HoldReason, MemoryTarget } from '../../../protocol/control';
import { messageOf } from '../../common/errors';
import type { Log } from '../../common/log';
import { hitTest } from '../../model/breakpoint';
import type { DelegateClient } from '../delegate/client';
import {
  bound,
  conditionOf,
  functionName,
  keyOf,
  learn,
  lineOf,
  placeOf,
  setOf,
  writesItself,
  type Group,
  type Kind,
} from './groups';
import { fillLogMessage, LogMarks } from './logs';
import { readableError, watchError } from './quirks';

/** What one stop at breakpoints comes to. */
export interface HitResult {
  /** Ours that want to stop. */
  ids: number[];
  reason: HoldReason;
  entry: boolean;
  /** What is watched, where that made it stop. */
  memory?: MemoryTarget;
}

const REASONS: Record<Kind, HoldReason> = {
  source: 'breakpoint',
  function: 'function breakpoint',
  instruction: 'instruction breakpoint',
  memory: 'data breakpoint',
  data: 'data breakpoint',
  entry: 'entry',
};

export interface BreakpointTools {
  client: DelegateClient;
  log: Log;
  /** An expression in the innermost frame of the thread that stopped. */
  evaluate(expression: string): Promise<string>;
  /** A command of the delegate's own language; its output. */
  command(text: string): Promise<string>;
  say(breakpoint: Breakpoint, text: string, place: { path?: string; line?: number }): void;
  /** Why nothing is bound there: a sentence. */
  explain(group: { kind: Kind; name: string }): string;
}

/** Our breakpoints in the delegate: sets are sent only where they changed, hits are counted here. */
export class NativeBreakpoints {
  #groups: Group[] = [];
  #sent = new Map<string, string>();
  readonly #hits = new Map<number, number>();
  /** Conditions that were evaluated once. */
  readonly #evaluated = new Set<string>();
  /** What is said of conditions that could not be evaluated, by the breakpoint's number. */
  readonly #failed = new Map<number, string>();
  readonly #marks = new LogMarks();
  /** Stop at `main` once; then this goes away. */
  #entry = false;
  #watched = 0;

  constructor(private readonly tools: BreakpointTools) {}

  /** Stops where `main` begins, if there is one. Answers whether there is. */
  async stopAtMain(configuration: Configuration): Promise<boolean> {
    this.#entry = true;
    await this.apply(configuration);
    return this.#groups.some((group) => group.kind === 'entry' && group.verified);
  }

  async apply({ breakpoints }: Pick<Configuration, 'breakpoints'>): Promise<BreakpointState[]> {
    const states: BreakpointState[] = [];
    const groups = new Map<string, Group>();
    for (const one of breakpoints) {
      const problem = this.#problemOf(one);
      if (problem !== undefined) states.push({ id: one.id, verified: false, message: problem });
      if (problem !== undefined || !one.enabled) continue;
      const key = keyOf(one);
      const group = groups.get(key) ?? { kind: one.target.type, key, breakpoints: [], verified: false };
      group.breakpoints.push(one);
      groups.set(key, group);
    }
    if (this.#entry) groups.set('entry', { kind: 'entry', key: 'entry', breakpoints: [], verified: false });
    const ids = new Set(breakpoints.map(({ id }) => id));
    for (const known of [this.#hits, this.#failed]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    await this.#send([...groups.values()]);
    return [...states, ...this.states()];
  }

  /** The delegate looks at conditions by itself, and lets the program go on. */
  get areConditional(): boolean {
    return this.#groups.some((group) => this.#wireOf(group).condition !== undefined);
  }

  /** Some do more than to stop, or not always: what a thread comes to at one is looked at while the program stands still. */
  get areLookedAt(): boolean {
    return this.#groups.some(({ breakpoints }) =>
      breakpoints.some(
        ({ logMessage, condition, hitCondition, ignoreCount }) =>
          logMessage !== undefined || condition !== undefined || hitCondition !== undefined || ignoreCount,
      ),
    );
  }

  states(): BreakpointState[] {
    return this.#groups.flatMap((group) => group.breakpoints.map((one) => this.#state(group, one)));
  }

  /** The delegate tells that a breakpoint of its was bound, moved or lost. */
  changed(body: Partial<P.BreakpointEvent['body']>): BreakpointState[] {
    const { breakpoint, reason } = body;
    const [group] = breakpoint?.id === undefined ? [] : this.#known([breakpoint.id], false);
    if (!group || !breakpoint || reason === 'removed') return [];
    const before = JSON.stringify(this.states());
    learn(group, { ...breakpoint, verified: breakpoint.verified ?? group.verified });
    return JSON.stringify(this.states()) === before ? [] : this.states();
  }

  /**
   * The program stopped at these of the delegate's: which of ours want that. Log messages are written, hits counted. `isMissed`: the delegate took no
   * notice of them, neither of their conditions nor of log messages that it would write.
   */
  async hit(numbers: readonly number[], memory: boolean, isMissed = false): Promise<HitResult | undefined> {
    const ids: number[] = [];
    let reason: HoldReason | undefined;
    let entry = false;
    let watched: MemoryTarget | undefined;
    for (const group of this.#known(numbers, memory)) {
      if (group.kind === 'entry') {
        entry = true;
        reason ??= 'entry';
      }
      for (const one of group.breakpoints) {
        // It is told beside a stop of another thread, too, and has been written by then.
        if (writesItself(this.tools.client, group) && !isMissed) continue;
        if (!(await this.#wants(group, one, isMissed))) continue;
        if (one.logMessage !== undefined) {
          const text = await fillLogMessage(one.logMessage, (expression) => this.tools.evaluate(expression));
          this.tools.say(one, text, placeOf(group));
          continue;
        }
        ids.push(one.id);
        reason = REASONS[group.kind];
        if (one.target.type === 'memory') watched = one.target;
      }
    }
    if (entry) this.#entry = false;
    return reason === undefined ? undefined : { ids, reason, entry, ...(watched ? { memory: watched } : {}) };
  }

  /** The program came to these of the delegate's, and was let go on before that was told: hits are counted. */
  passed(numbers: readonly number[]): void {
    for (const group of this.#known(numbers, false)) {
      if (writesItself(this.tools.client, group)) continue;
      for (const { id, condition } of group.breakpoints) {
        // Of several at one place each is looked at here, which is too late.
        const isMet = condition === undefined || group.breakpoints.length === 1;
        if (isMet) this.#hits.set(id, (this.#hits.get(id) ?? 0) + 1);
      }
    }
  }

  /** What the delegate prints may be a log message that it wrote for us. */
  printed(text: string): void {
    for (const { id, text: said } of this.#marks.push(text)) {
      const group = this.#groups.find((one) => one.breakpoints.some((each) => each.id === id));
      const one = group?.breakpoints.find((each) => each.id === id);
      if (!group || !one) continue;
      this.#hits.set(id, (this.#hits.get(id) ?? 0) + 1);
      this.tools.say(one, said, placeOf(group));
    }
  }

  /** Known to the delegate under these numbers; what is watched is counted for itself. */
  knows(numbers: readonly number[], memory: boolean): boolean {
    return this.#known(numbers, memory).length > 0;
  }

  /** Lines that a thread may stand at which stopped at these; empty where that is not known, such as for functions, which may be several of one name. */
  linesOf(numbers: readonly number[]): number[] {
    const groups = this.#known(numbers, false);
    return groups.every(({ kind }) => kind === 'source') ? groups.flatMap(({ line }) => line ?? []) : [];
  }

  #known(numbers: readonly number[], memory: boolean): Group[] {
    return this.#groups.filter(
      ({ number, kind }) => number !== undefined && numbers.includes(number) && (kind === 'memory') === memory,
    );
  }

  // ------------------------------------------------------------ one of ours

  async #wants(group: Group, one: Breakpoint, isMissed: boolean): Promise<boolean> {
    // The delegate looks at the condition of one that stands alone, and stops where it cannot: so each is looked at here until it was evaluated once.
    const isLookedAt = group.breakpoints.length === 1 && !isMissed && this.#evaluated.has(one.condition ?? '');
    if (one.condition !== undefined && !isLookedAt) {
      try {
        if (!isTrue(await this.tools.evaluate(one.condition))) return false;
        this.#evaluated.add(one.condition);
      } catch (error) {
        this.#conditionFailed(group, one, readableError(messageOf(error)));
        return false;
      }
    }
    const hits = (this.#hits.get(one.id) ?? 0) + 1;
    this.#hits.set(one.id, hits);
    if (hits <= (one.ignoreCount ?? 0)) return false;
    return one.hitCondition === undefined || hitTest(one.hitCondition)(hits);
  }

  #conditionFailed(group: Group, one: Breakpoint, why: string): void {
    if (this.#failed.has(one.id)) return;
    const sentence = `Condition failed once: ${why} The breakpoint did not stop.`;
    this.#failed.set(one.id, sentence);
    const place = placeOf(group);
    this.tools.say(one, sentence, place);
  }

  #problemOf({ target, boundaries }: Breakpoint): string | undefined {
    const { client } = this.tools;
    switch (target.type) {
      case 'data':
        return 'Native code has no workflow state. Watch a variable instead: "Break on Value Change" in Variables.';
      case 'function':
        if (target.kind !== undefined && target.kind !== 'native' && target.kind !== 'function') {
          return `Native code has no ${target.kind}.`;
        }
        if (target.glob.includes('*')) return 'Native functions are named in full, without *.';
        if (!boundaries.includes('before')) return 'Native functions stop where they begin only.';
        return client.can('setFunctionBreakpoints') ? undefined : `${client.name} knows no function breakpoints.`;
      case 'source':
        return target.path.endsWith('.py') ? 'Python code runs in another program.' : undefined;
      case 'memory':
        return client.can('setDataBreakpoints') ? undefined : `${client.name} cannot watch memory.`;
      case 'instruction':
        return undefined;
    }
  }

  #state(group: Group, one: Breakpoint): BreakpointState {
    const { verified, path, line } = group;
    const name = one.target.type === 'source' ? one.target.path : one.target.type === 'function' ? one.target.glob : '';
    const message = verified
      ? this.#failed.get(one.id)
      : (group.message ?? this.tools.explain({ kind: group.kind, name }));
    return {
      id: one.id,
      verified,
      ...(message ? { message } : {}),
      ...(one.target.type === 'source' ? { path: one.target.path } : path ? { path } : {}),
      ...(line !== undefined ? { line } : {}),
      hits: this.#hits.get(one.id) ?? 0,
    };
  }

  // ------------------------------------------------------------ to the delegate

  /** Sends every set that looks different from what the delegate has; all at once, since it takes them in turn. */
  async #send(groups: Group[]): Promise<void> {
    const sets = new Map<string, Group[]>();
    for (const group of groups) {
      const set = setOf(group);
      sets.set(set, [...(sets.get(set) ?? []), group]);
    }
    const old = new Map(this.#groups.map((group) => [group.key, group]));
    this.#groups = groups;
    const work: Promise<void>[] = [];
    for (const set of new Set([...sets.keys(), ...this.#sent.keys()])) {
      const members = sets.get(set) ?? [];
      const wire = JSON.stringify(members.map((group) => [group.key, this.#wireOf(group)]));
      if (this.#sent.get(set) === wire) {
        for (const group of members) Object.assign(group, bound(old.get(group.key)));
        continue;
      }
      if (members.length > 0) this.#sent.set(set, wire);
      else this.#sent.delete(set);
      work.push(
        this.#sendSet(set, members, old).catch((error: unknown) => {
          // Not taken: sent again with the next change.
          this.#sent.delete(set);
          for (const group of members) group.message = messageOf(error);
        }),
      );
    }
    await Promise.all(work);
  }

  /** What of conditions and messages the delegate does itself: all of it where there is one breakpoint, what all have in common else. */
  #wireOf(group: Group): { condition?: string; logMessage?: string } {
    const [one] = group.breakpoints;
    return writesItself(this.tools.client, group)
      ? { logMessage: LogMarks.mark(one!.id, one!.logMessage!) }
      : conditionOf(group);
  }

  async #sendSet(set: string, members: Group[], old: ReadonlyMap<string, Group>): Promise<void> {
    const { client } = this.tools;
    let answers: P.Breakpoint[];
    if (set === 'function') {
      const breakpoints = members.map((group) => ({ name: functionName(group), ...this.#wireOf(group) }));
      answers = (await client.request('setFunctionBreakpoints', { breakpoints })).breakpoints;
    } else if (set === 'memory') {
      const breakpoints = members.map((group) => {
        const target = group.breakpoints[0]!.target as { data: string; access: P.DataBreakpointAccessType };
        return { dataId: target.data, accessType: target.access, ...this.#wireOf(group) };
      });
      answers = (await client.request('setDataBreakpoints', { breakpoints })).breakpoints;
    } else if (set === 'instruction') {
      answers = await this.#sendInstructions(members, old);
    } else {
      const path = set.slice('source:'.length);
      const breakpoints = members.map((group) => ({ line: lineOf(group), ...this.#wireOf(group) }));
      answers = (await client.request('setBreakpoints', { source: { path }, breakpoints })).breakpoints;
    }
    members.forEach((group, index) => {
      const answer = answers[index] ?? { verified: false };
      learn(group, answer);
      if (set === 'memory' && !answer.verified) group.message = watchError(answer.message ?? '');
      if (set === 'memory' && answer.verified) {
        // Version 19 does not say the number: lldb counts what was ever watched.
        this.#watched++;
        group.number ??= this.#watched;
      }
    });
  }

  /** Addresses; a delegate that has no request for them has a command. */
  async #sendInstructions(members: Group[], old: ReadonlyMap<string, Group>): Promise<P.Breakpoint[]> {
    const targets = members.map((group) => group.breakpoints[0]!.target as { reference: string; offset?: number });
    const { client } = this.tools;
    if (client.can('setInstructionBreakpoints')) {
      const breakpoints = targets.map(({ reference, offset }, index) => ({
        instructionReference: reference,
        ...(offset === undefined ? {} : { offset }),
        ...this.#wireOf(members[index]!),
      }));
      return (await client.request('setInstructionBreakpoints', { breakpoints })).breakpoints;
    }
    const gone = [...old.values()].filter((group) => group.kind === 'instruction' && group.number !== undefined);
    for (const group of gone) await this.tools.command(`breakpoint delete ${group.number ?? ''}`);
    const answers: P.Breakpoint[] = [];
    for (const { reference, offset } of targets) {
      if (!/^(?:0x[\da-f]+|\d+)$/i.test(reference)) {
        answers.push({ verified: false, message: `"${reference}" is no address. Write it as 0x401136.` });
        continue;
      }
      const address = `0x${(BigInt(reference) + BigInt(offset ?? 0)).toString(16)}`;
      const said = await this.tools.command(`breakpoint set --address ${address}`);
      const id = Number(/^Breakpoint (\d+):/m.exec(said)?.[1] ?? NaN);
      answers.push(Number.isNaN(id) ? { verified: false, message: said.trim() } : { id, verified: true });
    }
    return answers;
  }
}

/** A condition's value as C sees it. */
function isTrue(value: string): boolean {
  return !/^(?:false|0|0x0+|NULL|nullptr|'\\0'|0\.0*)$/i.test(value.trim());
}
