import { MINIMAP_BUCKETS, type CallRow, type Overview, type RunSummary } from '../../protocol/timeline';
import { layOut, type Layout } from '../model/layout';
import type { Nanoseconds } from '../model/time';
import { whole, type Viewport } from '../model/viewport';
import type { Ask, Client } from './client';
import { Comparing } from './comparing';
import { Lines } from './lines';
import { Loaded } from './loaded';
import { Ranger, type Range } from './range';
import { Finder, isFound, type Search } from './search';
import { Chooser, type Selection } from './selection';
import { sentence } from './sentence';
import { RunWindow } from './window';

const REFRESH_INTERVAL = 150;
/** In a long run less than a second cannot be seen; a number that is shown beside it may be so old. */
const LONGEST_TICK: Nanoseconds = 1e9;
export const TABLE_LIMIT = 5000;

/**
 * What the page shows and how it changes. Views read its fields and listen: `state` for everything slow (header, detail pane), `view` for what
 * moves with each frame (window, scroll, the present of a live run).
 */
export class Page {
  folder = '';
  runs: RunSummary[] = [];
  runsKnown = false;
  file?: string;
  overview?: Overview;
  problem?: string;
  /** A session has just begun to record into the file, and nothing could be read of it so far. */
  starting = false;
  layout: Layout = layOut([], new Set());
  view: Viewport = whole(0);
  /** CSS pixels of the lanes' canvas; set by the stage. */
  width = 1000;
  selection?: Selection;
  detailOpen = false;
  search?: Search;
  hiddenKinds = new Set<string>();
  errorsOnly = false;
  follow = true;
  table = false;
  clock = false;
  range?: Range;
  /** A call the stage shall scroll to when it next draws. */
  scrollTo?: CallRow;
  /** The part of the detail that is wanted, where a call has it. */
  tab?: string;
  /** The call that others are compared with. */
  compared?: CallRow;
  /** Changes of a state are shown beside each other, not as a list. */
  sideBySide = false;
  /** Spoken by the live region, each time anew. */
  announcement = '';
  announced = 0;
  /** The same where nothing else on the page tells it: it is shown for a moment. */
  notice?: { text: string };

  private readonly collapsed = new Set<number>();
  private readonly stateListeners = new Set<() => void>();
  private readonly viewListeners = new Set<() => void>();
  private showing = 0;
  private refreshTimer?: ReturnType<typeof setTimeout>;
  /** The moment that was drawn last, of those that nothing but the clock asked for. */
  private tickedAt: Nanoseconds = 0;
  private refreshing = false;
  private refreshAgain = false;
  private overviewAt = 0;
  readonly ask: Ask;
  readonly window = new RunWindow(this);
  readonly loaded = new Loaded(this);
  readonly chooser = new Chooser(this);
  readonly finder = new Finder(this);
  readonly ranger = new Ranger(this);
  readonly comparing = new Comparing(this);
  readonly lines: Lines;

  constructor(private readonly client: Client) {
    this.ask = client.ask;
    this.lines = new Lines(client.ask);
    client.on('changed', ({ file }) => {
      if (file === this.file) this.refreshSoon();
    });
    client.on('runsChanged', () => {
      void this.loadRuns();
      // A run that begins or ends is told so: the one that was waited for is over, or else it says itself why it cannot be shown.
      if (this.starting) {
        this.starting = false;
        this.refreshSoon();
      }
    });
    client.on('show', ({ file, call, recording }) => void this.show(file, call, recording));
  }

  onState(listener: () => void): () => void {
    this.stateListeners.add(listener);
    return () => this.stateListeners.delete(listener);
  }

  onView(listener: () => void): () => void {
    this.viewListeners.add(listener);
    return () => this.viewListeners.delete(listener);
  }

  /** Changes some fields and tells everyone. */
  update(change?: Partial<Page>): void {
    if (change) Object.assign(this, change);
    if (change?.announcement !== undefined) this.announced++;
    // One that joins meanwhile has seen the change.
    for (const listener of [...this.stateListeners]) listener();
    this.moved();
  }

  /** Says what came of something and is not to be seen otherwise. */
  tell(text: string): void {
    this.update({ announcement: text, notice: { text } });
  }

  /** Tells those who draw the lanes. */
  moved(): void {
    for (const listener of this.viewListeners) listener();
  }

  // Runs

  async begin(): Promise<void> {
    try {
      const start = await this.ask('start', { width: this.width });
      // Another run may have been shown meanwhile.
      if (this.file === undefined) for (const known of start.known ?? []) this.client.know(known);
      this.folder = start.folder;
      this.follow = start.follow;
      // What dead sessions left is taken over before the list is read.
      const listed = this.loadRuns();
      if (start.file === undefined) await listed;
      const file = start.file ?? this.runs[0]?.file;
      if (file !== undefined) await this.show(file, start.call, start.recording, start.overview);
      await listed;
    } catch (error) {
      this.update({ problem: sentence(error), runsKnown: true });
    } finally {
      this.client.forget();
    }
  }

  private async loadRuns(): Promise<void> {
    try {
      const { runs } = await this.ask('runs', { folder: this.folder });
      this.update({ runs, runsKnown: true });
      // The run on screen was read before what a dead session had left was added to it.
      const row = runs.find(({ file }) => file === this.file);
      const known = this.overview?.run;
      if (row && known && !known.live && (row.calls !== known.calls || row.duration !== known.duration))
        this.refreshSoon();
      // The first run of a project shows itself: the page was waiting for it.
      const newest = runs[0];
      if (newest && this.file === undefined) await this.show(newest.file);
    } catch (error) {
      this.update({ runsKnown: true, problem: this.file === undefined ? sentence(error) : this.problem });
    }
  }

  /** `known`: what was told of the run with its name. */
  async show(file: string, call?: string, recording = false, known?: Overview): Promise<void> {
    const { choices } = this.chooser;
    if (file !== this.file) {
      const ticket = ++this.showing;
      const old = this.file;
      if (old !== undefined) void this.ask('unfollow', { file: old }).catch(() => undefined);
      this.file = file;
      this.loaded.begin(file);
      this.collapsed.clear();
      this.update({
        overview: undefined,
        problem: undefined,
        starting: recording,
        selection: undefined,
        detailOpen: false,
        search: undefined,
        range: undefined,
        compared: undefined,
        announcement: '',
        notice: undefined,
      });
      try {
        const overview = known ?? (await this.ask('overview', { file, buckets: MINIMAP_BUCKETS }));
        if (ticket !== this.showing) return;
        this.opened(overview);
      } catch (error) {
        if (ticket !== this.showing) return;
        if (!this.starting) this.update({ problem: sentence(error) });
      }
      const run = this.overview?.run;
      // One that cannot be read now may be in a moment: its session makes the file, or another program lets go of it.
      if (run === undefined || run.live || run.reading) {
        try {
          await this.ask('follow', { file });
        } catch (error) {
          if (ticket === this.showing) this.update({ problem: sentence(error) });
          return;
        }
        if (ticket !== this.showing) return;
        // What happened before the following began is told by nobody.
        this.refreshSoon();
      }
    }
    // What was chosen while the run was opened is newer: another stop, or a person's own choice.
    if (call !== undefined && choices === this.chooser.choices) await this.chooser.selectById(call, 'gently');
  }

  /** The run can be read: it is shown as a whole, or followed. */
  private opened(overview: Overview): void {
    this.take(overview);
    this.window.begin();
    this.loaded.expect();
    this.update({ problem: overview.run.problem, starting: false });
    void this.loaded.loadErrors();
  }

  private take(overview: Overview): void {
    const before = this.now();
    this.overview = overview;
    this.overviewAt = performance.now();
    // The present never goes back while a run is live.
    if (overview.run.live)
      this.overviewAt -= Math.max(0, (before - Math.max(overview.end, overview.run.duration)) / 1e6);
    this.layout = layOut(overview.lanes, this.collapsed);
  }

  get live(): boolean {
    return this.overview?.run.live ?? false;
  }

  /** The one clock of the page: the end of the run; grows by itself while the run is live. */
  now(): Nanoseconds {
    if (!this.overview) return 0;
    const { end, run } = this.overview;
    return run.live ? Math.max(end, run.duration) + (performance.now() - this.overviewAt) * 1e6 : end;
  }

  private updateRun(changed: RunSummary): void {
    this.runs = this.runs.map((run) => (run.file === changed.file ? changed : run));
  }

  private refreshSoon(): void {
    if (this.refreshing) this.refreshAgain = true;
    else this.refreshTimer ??= setTimeout(() => void this.refresh(), REFRESH_INTERVAL);
  }

  private async refresh(): Promise<void> {
    this.refreshTimer = undefined;
    const file = this.file;
    if (file === undefined) return;
    this.refreshing = true;
    try {
      const known = this.overview?.end ?? 0;
      const overview = await this.ask('overview', { file, buckets: MINIMAP_BUCKETS });
      if (file !== this.file) return;
      // Times count from the first call, which may have come after what was shown so far.
      if (overview.run.startedAt === (this.overview?.run.startedAt ?? overview.run.startedAt))
        this.loaded.outdate(known);
      else this.loaded.begin(file);
      const grew = overview.run.calls !== this.overview?.run.calls;
      // The list was read when the file was not there yet.
      if (this.runs.some((run) => run.file === file && !run.problem)) this.updateRun(overview.run);
      else void this.loadRuns();
      if (this.overview === undefined) this.opened(overview);
      else {
        this.take(overview);
        this.window.keepUp();
        this.update({ problem: overview.run.problem });
        void this.loaded.loadErrors();
      }
      void this.chooser.again();
      if (this.selection && this.selection.call.end === undefined) void this.chooser.refresh();
      if (grew) {
        void this.finder.again();
        void this.ranger.again();
      }
    } catch (error) {
      if (file === this.file && !this.starting) this.update({ problem: sentence(error) });
    } finally {
      this.refreshing = false;
      if (this.refreshAgain) {
        this.refreshAgain = false;
        this.refreshSoon();
      }
    }
  }

  /** Some times a second: while the run is live, lets open calls grow and the window follow, as soon as it can be seen. */
  tick(): void {
    if (!this.live) return;
    const now = this.now();
    const pixel = (this.view.to - this.view.from) / this.width;
    if (now >= this.tickedAt && now - this.tickedAt < Math.min(pixel, LONGEST_TICK)) return;
    this.tickedAt = now;
    this.window.keepUp();
    this.moved();
  }

  // Lanes and filters

  toggleLane(task: number): void {
    if (!this.collapsed.delete(task)) this.collapsed.add(task);
    this.arrange();
  }

  collapseAll(collapse: boolean): void {
    this.collapsed.clear();
    if (collapse) for (const lane of this.overview?.lanes ?? []) this.collapsed.add(lane.task);
    this.arrange();
  }

  private arrange(): void {
    this.update({ layout: layOut(this.overview?.lanes ?? [], this.collapsed) });
  }

  toggleKind(kind: string): void {
    if (!this.hiddenKinds.delete(kind)) this.hiddenKinds.add(kind);
    this.update();
    void this.finder.again();
    void this.ranger.again();
  }

  toggleErrorsOnly(): void {
    this.update({ errorsOnly: !this.errorsOnly });
    void this.finder.again();
    void this.ranger.again();
  }

  /** Whether a call stands out: it passes the filters and the search. */
  matches(call: CallRow): boolean {
    return this.passes(call) && (!this.search?.done || this.search.text === '' || isFound(this.search, call) !== false);
  }

  passes(call: CallRow): boolean {
    return !this.hiddenKinds.has(call.kind) && (!this.errorsOnly || call.state === 'error');
  }

  /** Opens the lanes that hide a call. */
  openLaneOf(call: CallRow): void {
    if (this.layout.byTask.has(call.task)) return;
    const parents = new Map((this.overview?.lanes ?? []).map((lane) => [lane.task, lane.parent]));
    const seen = new Set<number>();
    for (let task = parents.get(call.task); task !== undefined && !seen.has(task); task = parents.get(task)) {
      seen.add(task);
      this.collapsed.delete(task);
    }
    this.layout = layOut(this.overview?.lanes ?? [], this.collapsed);
  }
}
