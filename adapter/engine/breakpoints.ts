import type { Breakpoint, BreakpointState, ExceptionFilter } from '../../protocol/control';
import { keyOf, mergeStates, type BadBreakpoint, type BreakpointSpec, type SetName } from '../model/breakpoint';
import { patternMatches, sentenceForNoMatch, type KnownName } from '../model/names';

/** One breakpoint as its client sees it. `id` is the client's own. */
export interface BreakpointView {
  id: number;
  spec?: BreakpointSpec;
  verified: boolean;
  message?: string;
  path?: string;
  line?: number;
  endLine?: number;
}

/** One distinct breakpoint; several clients may have asked for it. */
interface Entry {
  id: number;
  key: string;
  spec: BreakpointSpec;
  users: number;
  /** By process index; 0 is what all processes said together. */
  states: Map<number, BreakpointState>;
}

/** What the text of the file says about a breakpoint, before any process does. */
export interface Place {
  line: number;
  /** Why no call can stop there: a sentence. */
  problem?: string;
}

interface Owned {
  id: number;
  place?: Place;
  spec?: BreakpointSpec;
  entry?: Entry;
  problem?: string;
}

interface Client {
  nextId: number;
  sets: Map<SetName, Owned[]>;
  exceptions: ExceptionFilter[];
  /** What the client was last told about a breakpoint. */
  told: Map<number, string>;
}

const TOGETHER = 0;

/** The union of the clients' breakpoint sets, and what became of each entry in each process. */
export class BreakpointTable {
  readonly #clients = new Map<string, Client>();
  readonly #entries = new Map<string, Entry>();
  #nextId = 1;
  #names: readonly KnownName[] = [];
  #running = false;

  /** Replaces one set of a client. Equal breakpoints keep their numbers, and so their hit counts. */
  replace(
    clientName: string,
    set: SetName,
    wanted: readonly (BreakpointSpec | BadBreakpoint)[],
    places: readonly (Place | undefined)[] = [],
  ): BreakpointView[] {
    const client = this.#client(clientName);
    const old = client.sets.get(set) ?? [];
    const free = [...old];
    const owned = wanted.map((one, index): Owned => {
      const place = places[index];
      if ('problem' in one) {
        return { id: client.nextId++, problem: one.problem };
      }
      const entry = this.#take(one);
      const same = free.findIndex((o) => o.entry === entry);
      const id = same >= 0 ? free.splice(same, 1)[0]!.id : client.nextId++;
      return { id, spec: one, entry, ...(place ? { place } : {}) };
    });
    old.forEach((o) => this.#drop(o));
    for (const gone of free) {
      client.told.delete(gone.id);
    }
    client.sets.set(set, owned);
    return this.views(clientName, set);
  }

  replaceExceptions(clientName: string, filters: ExceptionFilter[]): void {
    this.#client(clientName).exceptions = filters;
  }

  removeClient(clientName: string): void {
    const client = this.#clients.get(clientName);
    if (client) {
      [...client.sets.values()].flat().forEach((o) => this.#drop(o));
      this.#clients.delete(clientName);
    }
  }

  /** What is sent to the processes. */
  wire(): Breakpoint[] {
    return [...this.#entries.values()].map((entry) => ({ id: entry.id, ...entry.spec })).sort((a, b) => a.id - b.id);
  }

  wireExceptions(): ExceptionFilter[] {
    const all = [...this.#clients.values()].flatMap((client) => client.exceptions);
    const distinct = new Map(all.map((filter) => [JSON.stringify([filter.filter, filter.condition ?? null]), filter]));
    return [...distinct.values()];
  }

  /** The client's own numbers of the entries a hold names. */
  idsFor(clientName: string, entryIds: readonly number[]): number[] {
    const client = this.#clients.get(clientName);
    const all = client ? [...client.sets.values()].flat() : [];
    return all.filter((o) => o.entry && entryIds.includes(o.entry.id)).map((o) => o.id);
  }

  views(clientName: string, set: SetName): BreakpointView[] {
    const client = this.#client(clientName);
    const views = (client.sets.get(set) ?? []).map((owned) => this.#view(owned));
    views.forEach((view) => client.told.set(view.id, JSON.stringify(view)));
    return views;
  }

  /** Breakpoints of the client that look different from what it was last told. */
  changed(clientName: string): BreakpointView[] {
    const client = this.#clients.get(clientName);
    if (!client) {
      return [];
    }
    const views = [...client.sets.values()].flat().map((owned) => this.#view(owned));
    return views.filter((view) => {
      const text = JSON.stringify(view);
      const isNew = client.told.get(view.id) !== text;
      client.told.set(view.id, text);
      return isNew;
    });
  }

  /** What all processes said together after a configuration. */
  learnTogether(states: readonly BreakpointState[]): void {
    for (const state of states) {
      this.#entry(state.id)?.states.set(TOGETHER, state);
    }
  }

  /** What one process said on its own. */
  learn(processIndex: number, states: readonly BreakpointState[]): void {
    for (const state of states) {
      const known = this.#entry(state.id)?.states;
      if (known) {
        const together = known.get(TOGETHER);
        // What they said together is older; keep it only where it still adds something.
        if (!together?.verified || state.message) {
          known.delete(TOGETHER);
        }
        known.set(processIndex, state);
      }
    }
  }

  /** `last`: no other process is there, so what they said together is over, too. */
  forgetProcess(processIndex: number, last = false): void {
    for (const entry of this.#entries.values()) {
      entry.states.delete(processIndex);
      if (last) {
        entry.states.delete(TOGETHER);
      }
    }
  }

  /** A new start of the app: nothing is bound yet. */
  forgetAll(): void {
    this.#names = [];
    for (const entry of this.#entries.values()) {
      entry.states.clear();
    }
  }

  setRunning(running: boolean): void {
    this.#running = running;
  }

  learnNames(names: readonly KnownName[]): void {
    this.#names = names;
  }

  /** Whether names could explain or bind something that is not bound. */
  get wantsNames(): boolean {
    return [...this.#entries.values()].some(
      (e) => e.spec.target.type === 'function' && !mergeStates([...e.states.values()])?.verified,
    );
  }

  #view(owned: Owned): BreakpointView {
    const { id, entry, spec, place } = owned;
    if (!entry) {
      return { id, spec, verified: false, message: owned.problem };
    }
    const state = mergeStates([...entry.states.values()]);
    const verified = state?.verified ?? false;
    const message = state?.message ?? (verified ? undefined : (place?.problem ?? this.#whyNot(entry.spec)));
    return {
      id,
      spec,
      verified,
      message,
      path: state?.path,
      line: state?.line ?? place?.line,
      endLine: state?.endLine,
    };
  }

  #whyNot(spec: BreakpointSpec): string {
    if (!this.#running) {
      return 'Waiting for the app to start.';
    }
    if (spec.target.type === 'source') {
      const name = spec.target.path.split(/[\\/]/).pop() ?? spec.target.path;
      return /\.pyw?$/.test(name) ? `Waiting for ${name} to be imported.` : `Waiting for the machine code of ${name}.`;
    }
    if (spec.target.type === 'data') {
      return 'Waiting for a workflow with this state.';
    }
    if (spec.target.type !== 'function') {
      return 'Waiting for native code to run.';
    }
    const { target } = spec;
    const known = this.#names.some((name) => patternMatches(target, name));
    return known ? 'Waiting for the first call.' : sentenceForNoMatch(target, this.#names);
  }

  #take(spec: BreakpointSpec): Entry {
    const key = keyOf(spec);
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { id: this.#nextId++, key, spec, users: 0, states: new Map() };
      this.#entries.set(key, entry);
    }
    entry.users++;
    return entry;
  }

  #drop(owned: Owned): void {
    const { entry } = owned;
    if (entry && --entry.users === 0) {
      this.#entries.delete(entry.key);
    }
  }

  #entry(id: number): Entry | undefined {
    return [...this.#entries.values()].find((entry) => entry.id === id);
  }

  #client(name: string): Client {
    let client = this.#clients.get(name);
    if (!client) {
      client = { nextId: 1, sets: new Map(), exceptions: [], told: new Map() };
      this.#clients.set(name, client);
    }
    return client;
  }
}
