import { kindNamed, type Query } from '../../protocol/query';
import type { ValueNode } from '../../protocol/timeline';
import { KINDS } from './kinds';

const STATES: Record<string, NonNullable<Query['status']>[number]> = {
  running: 'running',
  returned: 'returned',
  error: 'error',
  failed: 'error',
  cancelled: 'cancelled',
  skipped: 'skipped',
  interrupted: 'interrupted',
};
/** `argument.order_id`, `state["a key"]`, `result[-1]` */
const PATH = String.raw`(?:arguments?|args|result|error|stateBefore|stateAfter|state)(?:\.[^\s=~:.["]+|\[(?:"[^"]*"|-?\d+)\])*`;
const SIGN = String.raw`\s{0,3}(?:==?|~|:)\s{0,3}|\s{1,3}(?:equals|contains|matches)\s{1,3}`;
const QUOTED = String.raw`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`;
/** As lines tell values, which have spaces in them: `b'a b'`, `{'id': 7}`, `Order(id=7, lines=[1, 2])`; so many brackets inside of each other. */
const DEEPEST = 5;
const TOLD = String.raw`b?'(?:[^'\\]|\\.)*'(?!\S)|[\w.]*${bracketed(DEEPEST)}(?!\S)`;
const WORD = new RegExp(
  String.raw`(^|\s)(?:(kind|name|status|file|error|task|process|from|to|min|value):("[^"]*"?|\S+)|(${PATH})(${SIGN})("[^"]*"?|${TOLD}|\S+))`,
  'gi',
);

/** How numbers are compared elsewhere; a name has none of it. */
const ORDERED = new RegExp(String.raw`(?:^|\s)(${PATH})\s{0,3}(?:[<>]=?|!=)\s{0,3}\S+`, 'i');

function bracketed(levels: number): string {
  const inside = levels === 0 ? '' : `|${bracketed(levels - 1)}`;
  return String.raw`[(\[{](?:[^()\[\]{}'"]|${QUOTED}${inside})*[)\]}]`;
}

/** What stands before a colon is taken for a slip of one of these; `to` is too short for that. */
const SLIPS = 'kind name status file error task process from min value argument result state'.split(' ');
const NAMED = /(?<!\S)([a-z]{3,}):(?=\S)/gi;

/** Whether a letter is missing, too many or another one, or two are the wrong way round. */
function isSlipOf(typed: string, word: string): boolean {
  let at = 0;
  while (at < word.length && typed[at] === word[at]) at++;
  const [have, want] = [typed.slice(at), word.slice(at)];
  return (
    [want.slice(1), want].includes(have.slice(1)) ||
    have === want.slice(1) ||
    (have.slice(0, 2) === want[1] + want[0]! && have.slice(2) === want.slice(2))
  );
}

const SIGNS: Record<string, string> = { ':': 'contains', contains: 'contains', '~': '~', matches: '~' };

const STATE_WORDS = 'running, returned, error, cancelled, skipped and interrupted';
const UNITS = 'ns, us, ms, s, m and h';
const CALL_KINDS = KINDS.filter((kind) => kind !== 'event');
/** Also as people call them. */
const KIND_WORDS = `${CALL_KINDS.slice(0, -1).join(', ')} or ${CALL_KINDS.at(-1)}; agent and model for workflow and llm`;

/** The words of the search, as they are explained. */
export const SEARCH_WORDS: readonly { word: string; what: string }[] = [
  { word: 'status:error', what: 'running, returned, error, cancelled, skipped or interrupted; several with commas' },
  { word: 'kind:tool', what: `${KIND_WORDS}; several with commas` },
  { word: 'name:refund', what: 'the whole name; name:/^look/ is a regular expression' },
  { word: 'min:200ms', what: 'takes at least so long, in ns, us, ms, s, m, h or d' },
  { word: 'value:"order 7"', what: 'in the name, the arguments, the result or the error' },
  { word: 'argument.order_id=7', what: 'this part is equal; also of result, error, state, stateBefore and stateAfter' },
  { word: 'result.note:late', what: 'this part contains the text; result.note~^l matches a regular expression' },
  { word: 'error:ValueError', what: 'the type of the error' },
  { word: 'file:triage.py', what: "the function's file, or the end of its path" },
  { word: 'task:worker', what: "part of the task's name" },
  { word: 'process:4711', what: 'number of the process, or part of its name' },
  { word: 'from:+5s  to:-1s', what: "since the run's start, before its end, or a date and time" },
];

/** Longest text of a value that is searched for. */
const LONGEST = 80;

/** What finds a text in values: as much of one line of it as can stand between quotes. Nothing for a text without words. */
export function valueWord(text: string): string | undefined {
  const parts = text.split(/["\r\n]/).map((part) => part.trim().slice(0, LONGEST).trim());
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return longest === '' ? undefined : `value:"${longest}"`;
}

/** Whose text no search finds: bytes, what would be a container if it had parts, and code. */
const NOT_SEARCHED =
  /^(?:bytes|bytearray|memoryview|Buffer|Uint8Array|list|tuple|dict|set|frozenset|Array|Object|Map|Set|type|(?:async )?function|method|builtin_function_or_method)$/;

/** Whether `valueWord` finds a value: what is masked, or was not looked into, has only a text that stands for it. */
export function isSearched({ type, children, mark, long }: ValueNode): boolean {
  return children === 0 && (mark === undefined || long === true) && !NOT_SEARCHED.test(type);
}

/** Whose part is looked for. */
export type ValueRoot = 'argument' | 'result' | 'error' | 'stateBefore' | 'stateAfter';

/** What finds the calls that have this value at this place: `argument.order_id=7`. `json`: of no container. Nothing for what cannot be typed. */
export function placeWord(root: ValueRoot, path: readonly string[], json: string): string | undefined {
  const steps = path.map((name) => {
    if (/^(?:0|[1-9]\d{0,8})$/.test(name)) return `[${name}]`;
    if (/^[^\s=~:.["'\]]+$/.test(name)) return `.${name}`;
    return /["\\\x00-\x1f]/.test(name) ? undefined : `["${name}"]`;
  });
  // A text is typed as JSON writes it; what needs an escape there is not.
  const value = json.replace(/^"|"$/g, '');
  if (steps.includes(undefined) || /["\\]/.test(value) || value.length > LONGEST) return undefined;
  return `${root}${steps.join('')}=${json}`;
}

/** What was typed, as the reader wants it. */
export interface Typed {
  /** Part of a name. */
  text: string;
  query?: Query;
  /** Conditions on values: `argument.order_id = 7`. */
  conditions?: string[];
  /** What is wrong with it. */
  problem?: string;
}

/** Names as they are; the words of `SEARCH_WORDS` ask for more than a name. */
export function searchWords(typed: string): Typed {
  const query: Query = {};
  const conditions: string[] = [];
  const once = new Set<string>();
  let problem: string | undefined;
  const take = (
    whole: string,
    before: string,
    word: string | undefined,
    named: string,
    path: string,
    typedSign: string,
    compared: string,
  ): string => {
    const given = word === undefined ? compared : named;
    const value = given.replace(/^"|"$/g, '');
    if (word === undefined) {
      const sign = SIGNS[typedSign.trim().toLowerCase()] ?? '=';
      // A name can be typed with what it is: `state:verdict` stands beside what happened to it.
      if (sign === 'contains' && /^state(?:before|after)?$/i.test(path)) return whole;
      if (value === '' && sign !== '=') return before;
      // A text in quotes is a text also where it looks like a number.
      conditions.push(`${rooted(path)} ${sign} ${sign === '=' ? given : value}`);
    } else if (value !== '') {
      const name = word.toLowerCase();
      // Of several kinds and states a call has one; all else would have to be two things at once.
      if (once.has(name)) problem = `"${name}:" stands twice.`;
      else problem = put(query, name, value) ?? problem;
      if (name !== 'status' && name !== 'kind') once.add(name);
    }
    return before;
  };
  const ordered = ORDERED.exec(typed.replace(/"[^"]*"/g, '""'));
  if (ordered !== null)
    problem = `"${ordered[0].trim()}" cannot be asked: a part is equal (=), contains a text (:) or matches a regular expression (~).`;
  const text = typed.replace(WORD, take);
  const name = text.replace(/\s+/g, ' ').trim();
  for (const [, word] of name.replace(/"[^"]*"/g, '""').matchAll(NAMED)) {
    const typedWord = word!.toLowerCase();
    const meant = SLIPS.includes(typedWord) ? undefined : SLIPS.find((each) => isSlipOf(typedWord, each));
    if (meant !== undefined)
      problem ??= `There is no word "${word}:". Did you mean "${meant}:"? What has a colon in its name is found by name:"…".`;
  }
  if (problem !== undefined) return { text: name, problem };
  const more = { ...(Object.keys(query).length > 0 && { query }), ...(conditions.length > 0 && { conditions }) };
  return Object.keys(more).length === 0 && name === typed.trim() ? { text: typed } : { text: name, ...more };
}

/** A path as the reader has it: `Args.x` is `args.x`. */
function rooted(path: string): string {
  return path.replace(/^[a-z]+/i, (root) =>
    root.toLowerCase().replace(/(?<=^state)[ab]/, (first) => first.toUpperCase()),
  );
}

/** Writes a word into the query; answers what is wrong with it. */
function put(query: Query, word: string, value: string): string | undefined {
  switch (word) {
    case 'status':
      for (const each of parts(value)) {
        const state = Object.hasOwn(STATES, each) ? STATES[each] : undefined;
        if (state === undefined) return `There is no status "${each}". There are ${STATE_WORDS}.`;
        query.status = [...(query.status ?? []), state];
      }
      return;
    case 'kind':
      for (const each of parts(value)) {
        const kind = kindNamed(each);
        if (!CALL_KINDS.includes(kind)) return `There is no kind "${each}". There are ${CALL_KINDS.join(', ')}.`;
        query.kinds = [...(query.kinds ?? []), kind];
      }
      return;
    case 'min':
      if (!/^(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|min|h)$/.test(value))
        return `"${value}" is no length of time, such as 200ms. The units are ${UNITS}.`;
      query.minimumDuration = value;
      return;
    case 'from':
    case 'to':
      if (/^[+-]?[\d.]*$/.test(value)) return `"${word}:" needs a unit, as in ${word}:+5s, or a date and time.`;
      query[word] = value;
      return;
    case 'error':
      if (value.includes(',')) return '"error:" takes one type.';
      query.error = value;
      return;
    case 'name':
      query.name = { ...query.name, ...(/^\/.+\/$/.test(value) ? { regex: value.slice(1, -1) } : { equals: value }) };
      return;
    case 'process':
      query.process = /^\d+$/.test(value) ? Number(value) : value;
      return;
    case 'value':
      query.text = value;
      return;
    default:
      query[word as 'file' | 'task'] = value;
  }
}

function parts(list: string): string[] {
  return list
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
