import type { PageNotifications, ReaderMethods, RunSummary } from '../../../protocol/timeline';
import { UserError, messageOf } from '../../common/errors';
import { runsFolder } from '../../common/paths';
import { barsBetween, callsBetween, errorNear, search } from './calls';
import { children } from './children';
import { compareValues } from './compare';
import { copyText } from './copy';
import { callDetail } from './detail';
import { linesOf } from '../query/rows';
import { searchQuery } from '../query/search';
import { OpenFiles } from './openFiles';
import { overview } from './overview';
import { numberIn, numbersIn, optionalPlace, optionalTexts, placeIn, textIn, textsIn, type Params } from './params';
import { density } from './density';
import { node } from './render';
import { partOf } from './place';
import { emptySummary, type RunFile } from './runFile';
import { crashNear, eventDetail, eventId, eventsBetween, eventsSaying } from './runEvents';
import { runsIn, summaryOf } from './folder';
import { statistics } from './statistics';
import { wholeText } from './wholeText';
import type { Value } from '../values/model';

const MOST_CHILDREN = 2_000;
const MOST_RUNS = 1_000;
const MOST_LINES = 500;

type Notify = <K extends keyof PageNotifications>(name: K, params: PageNotifications[K]) => void;
type Handlers = { [K in keyof ReaderMethods]: (params: Params) => ReaderMethods[K]['result'] };

/** Answers `ReaderMethods` from run files. Throws a `UserError` with a sentence for whatever cannot be answered. */
export class Reader {
  private readonly files = new OpenFiles();
  private asked: RunFile | undefined;

  constructor(private readonly notify: Notify) {}

  private readonly handlers: Handlers = {
    project: (params) => ({ folder: runsFolder(textIn(params, 'workspace')) }),
    runs: (params) => ({
      runs: runsIn(textIn(params, 'folder'), { most: MOST_RUNS, summary: (path) => this.summary(path) }),
    }),
    overview: (params) => {
      const file = this.file(params);
      const answer = overview(file, numberIn(params, 'buckets', 1));
      // Its calls are asked for next: what is known of their blocks is read while the page draws the lanes.
      setImmediate(() => file.prepare());
      return answer;
    },
    calls: (params) => {
      const { calls, left } = callsBetween(this.file(params), between(params));
      const { events, left: more } = eventsBetween(this.file(params), between(params));
      return {
        calls: events.length === 0 ? calls : [...calls, ...events].sort((one, other) => one.start - other.start),
        left: left + more,
      };
    },
    bars: (params) => {
      const { calls, left } = barsBetween(this.file(params), between(params));
      const { events, left: more } = eventsBetween(this.file(params), between(params));
      return { calls, events, left: left + more };
    },
    call: (params) => {
      const id = textIn(params, 'id');
      const event = eventId(id);
      return event === undefined ? callDetail(this.file(params), id) : eventDetail(this.file(params), event);
    },
    lines: (params) => ({ lines: linesOf(this.file(params), textsIn(params, 'ids').slice(0, MOST_LINES)) }),
    value: (params) => {
      const file = this.file(params);
      const start = Math.floor(numberIn(params, 'start', 0));
      const count = Math.min(MOST_CHILDREN, Math.floor(numberIn(params, 'count', 0)));
      return {
        nodes: children(this.part(file, params), file.values, start, count).map(({ name, value }) =>
          node(name, value, file.values),
        ),
      };
    },
    text: (params) => {
      const file = this.file(params);
      const from = params['from'] === undefined ? 0 : Math.floor(numberIn(params, 'from', 0));
      return wholeText(this.part(file, params), file.values, from);
    },
    copy: (params) => {
      const file = this.file(params);
      const format = textIn(params, 'format');
      if (format !== 'json' && format !== 'python') throw new UserError('A value is copied as "json" or as "python".');
      return { text: copyText(this.part(file, params), file.values, format) };
    },
    compare: (params) => {
      const file = this.file(params);
      const which = textIn(params, 'which');
      if (which !== 'different' && which !== 'equal')
        throw new UserError('What is compared are the parts that are "different" or "equal".');
      const [before, after] = ['before', 'after'].map((side) => {
        const place = optionalPlace(params, side);
        return place === undefined ? undefined : partOf(file, place);
      });
      const start = Math.floor(numberIn(params, 'start', 0));
      const count = Math.min(MOST_CHILDREN, Math.floor(numberIn(params, 'count', 0)));
      return compareValues(before, after, file.values, { which, start, count });
    },
    statistics: (params) =>
      statistics(this.file(params), {
        from: numberIn(params, 'from'),
        to: numberIn(params, 'to'),
        kinds: optionalTexts(params, 'kinds'),
        name: params['name'] === undefined || params['name'] === null ? undefined : textIn(params, 'name'),
        errors: params['errors'] === true,
      }),
    search: (params) => {
      const given = {
        file: '',
        text: textIn(params, 'text'),
        kinds: optionalTexts(params, 'kinds'),
        errors: params['errors'] === true,
        limit: Math.floor(numberIn(params, 'limit', 0)),
        conditions: optionalTexts(params, 'conditions') ?? [],
      };
      const query = params['query'] ?? (given.conditions.length > 0 ? {} : undefined);
      const file = this.file(params);
      if (query !== undefined) return searchQuery(file, given, query);
      const { events, atLeast } = eventsSaying(file, given);
      return { ...search(file, given), ...(events.length > 0 && { events }), ...(atLeast && { atLeast }) };
    },
    density: (params) =>
      density(this.file(params), {
        file: '',
        from: numberIn(params, 'from'),
        to: numberIn(params, 'to'),
        buckets: numberIn(params, 'buckets', 1),
        tasks: numbersIn(params, 'tasks'),
      }),
    errorNear: (params) => {
      const direction = textIn(params, 'direction');
      if (direction !== 'next' && direction !== 'previous')
        throw new UserError('The direction is "next" or "previous".');
      const time = numberIn(params, 'time');
      const { call } = errorNear(this.file(params), { file: '', time, direction });
      const crash = crashNear(this.file(params), time, direction);
      if (call === undefined || crash === undefined) return { call: call ?? crash };
      return { call: (direction === 'next') === crash.start < call.start ? crash : call };
    },
    follow: (params) => {
      const path = textIn(params, 'file');
      this.files.follow(path, () => this.notify('changed', { file: path }));
      return {};
    },
    unfollow: (params) => {
      this.files.unfollow(textIn(params, 'file'));
      return {};
    },
  };

  handle(method: string, params: unknown): unknown {
    if (!Object.hasOwn(this.handlers, method))
      throw new UserError(`The timeline's reader knows no "${method.slice(0, 40)}".`);
    if (typeof params !== 'object' || params === null || Array.isArray(params))
      throw new UserError(`"${method}" needs parameters.`);
    try {
      return this.handlers[method as keyof ReaderMethods](params as Params);
    } finally {
      this.asked?.end();
      this.asked = undefined;
    }
  }

  close(): void {
    this.files.close();
  }

  /** The file of a question: the whole answer is from one picture of it. */
  private file(params: Params): RunFile {
    const file = this.files.get(textIn(params, 'file'));
    if (this.asked === undefined) {
      file.begin();
      this.asked = file;
    }
    return file;
  }

  private part(file: RunFile, params: Params): Value {
    return partOf(file, placeIn(params));
  }

  private summary(path: string): RunSummary {
    if (!this.files.isOpen(path)) return summaryOf(path);
    try {
      return this.files.get(path).summary();
    } catch (error) {
      return emptySummary(path, messageOf(error));
    }
  }
}

function between(params: Params): ReaderMethods['calls']['params'] {
  return {
    file: '',
    from: numberIn(params, 'from'),
    to: numberIn(params, 'to'),
    minimum: numberIn(params, 'minimum', 0),
    limit: Math.floor(numberIn(params, 'limit', 0)),
  };
}
