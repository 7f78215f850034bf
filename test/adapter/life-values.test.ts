import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReaderMethods } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { LifePlace } from './life-support';
import { python } from './target-support';

/** More with TOOLBREAK_FUZZ_RUNS, others with TOOLBREAK_FUZZ_SEED=random, as for the tests of hostile input. */
const DRAWN = Math.round((400 * Number(process.env['TOOLBREAK_FUZZ_RUNS'] ?? 1000)) / 1000);

/** Gives each value of a list of expressions to a tool; with `--compare`, prints which texts do not make the value again. */
const WRITTEN = `
import enum
import json
import sys
from datetime import *
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

class Access(enum.Flag):
    READ = 1
    WRITE = 2

Op = enum.Enum("Op", "in")

class Mode(enum.IntFlag):
    R = 1
    W = 2

Odd = enum.Enum("Odd", {"a b": 1})

class Wide(NamedTuple):
    a: int = 1
    b: int = 2
    c: int = 3
    d: int = 4
    e: int = 5
    f: int = 6
    g: int = 7
    h: int = 8
    i: int = 9

def tool(number, value):
    return value

def written(value):
    # Python writes no more than 4,300 digits.
    return hex(value) if type(value) is int else repr(value)

expressions = json.loads(sys.argv[2])
if sys.argv[1] == "--compare":
    print(json.dumps([text for expression, text in expressions if written(eval(expression)) != written(eval(text))]))
else:
    for number, expression in enumerate(expressions):
        tool(number, eval(expression))
`;

/** Expressions, and how the values of them are copied. */
const COPIED: Record<string, string> = {
  "{date(2020, 10, 11): 'a', date(2021, 12, 31): 'b'}":
    "{date.fromisoformat('2020-10-11'): 'a', date.fromisoformat('2021-12-31'): 'b'}",
  '{timedelta(hours=1): 1}': '{timedelta(seconds=3600): 1}',
  "{Decimal('0.1'): 1, 0.1: 2}": "{Decimal('0.1'): 1, 0.1: 2}",
  '{Fraction(1, 3): 1}': "{Fraction('1/3'): 1}",
  "{(date(2020, 10, 11), 'x'): 5}": "{(date.fromisoformat('2020-10-11'), 'x'): 5}",
  '{datetime(2020, 1, 2, 3): time(4, 5)}':
    "{datetime.fromisoformat('2020-01-02T03:00:00'): time.fromisoformat('04:05:00')}",
  '{time(4, 5): 1, UUID(int=7): 2}':
    "{time.fromisoformat('04:05:00'): 1, UUID('00000000-0000-0000-0000-000000000007'): 2}",
  "{PurePosixPath('/a'): 1, frozenset({date(2020, 10, 11)}): 2}":
    "{PurePosixPath('/a'): 1, frozenset({date.fromisoformat('2020-10-11')}): 2}",
  '{Wide(): 1}': '{Wide(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8, i=9): 1}',
  "{(complex(0, -0.0),): 1, (float('inf'),): 2}": "{(complex('(0-0j)'),): 1, (float('inf'),): 2}",
  '{int: str}': '{int: str}',
  '{timezone.utc: 1}': '{timezone.utc: 1}',
  'timedelta(days=999999, microseconds=1)': 'timedelta(seconds=86399913600, microseconds=1)',
  'timedelta(days=200000, microseconds=123457)': 'timedelta(seconds=17280000000, microseconds=123457)',
  'timedelta(days=-200000, microseconds=-1)': 'timedelta(seconds=-17280000000, microseconds=-1)',
  'timedelta(days=11574, microseconds=999999)': 'timedelta(seconds=999993600.999999)',
  'timedelta.max': 'timedelta(seconds=86399999999999, microseconds=999999)',
  'timedelta.min': 'timedelta(seconds=-86399999913600)',
  '-10**4500': `-0x${(10n ** 4500n).toString(16)}`,
  '10**4299': `1${'0'.repeat(4299)}`,
  'Access.READ | Access.WRITE': 'Access.READ|Access.WRITE',
  '{Access.READ | Access.WRITE: Access.WRITE}': '{Access.READ|Access.WRITE: Access.WRITE}',
  'Access(0)': 'Access(0)',
  'Op["in"]': 'Op(1)',
  'Mode.R | 8': 'Mode(9)',
  "Odd['a b']": 'Odd(1)',
  'timezone(timedelta(hours=2))': 'timezone(timedelta(seconds=7200))',
  'timezone(timedelta(hours=-2, seconds=-3, microseconds=-5))': 'timezone(timedelta(seconds=-7203.000005))',
};

/** What the recording has no more of than a text. */
const MARKED: Record<string, string | RegExp> = {
  '{Mode: 1, len: 2}': "{'<enum.EnumType __main__.Mode>': 1, '<builtin_function_or_method len>': 2}",
  "timezone(timedelta(hours=1), 'CET')": "'CET'",
  "{('y' * 2_000_000,): 1}": /^\{\('y+…',\): 1\}$/,
};

describe('life: values by chance', function () {
  this.timeout(120_000);
  let place: LifePlace;

  before(() => {
    place = new LifePlace();
  });
  after(() => place.remove());

  it('are copied from the recording as the Python that makes them again, arguments and results', async () => {
    const program = join(place.project, 'drawn.py');
    copyFileSync(join(__dirname, '..', 'support', 'drawn_values.py'), program);
    const kept = join(place.folder, 'drawn.pickle');
    const file = await place.record(program, [kept, String(DRAWN)]);
    const reader = new Reader(() => undefined);
    try {
      const ask = <K extends keyof ReaderMethods>(
        method: K,
        params: Omit<ReaderMethods[K]['params'], 'file'>,
      ): ReaderMethods[K]['result'] => reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
      const copied = (value: number, path: string[]): string => ask('copy', { value, path, format: 'python' }).text;
      const texts: Record<'arguments' | 'results', string[]> = { arguments: [], results: [] };
      const { calls } = ask('search', { text: 'tool', limit: 2 * DRAWN });
      for (const { id, name } of calls) {
        if (name !== 'tool') continue;
        const { input, output } = ask('call', { id });
        const number = Number(copied(input!.value, ['number']));
        texts.arguments[number] = copied(input!.value, ['value']);
        texts.results[number] = copied(output!.value, []);
      }
      for (const list of Object.values(texts)) {
        assert.equal(list.length, DRAWN);
        const path = join(place.folder, 'texts.json');
        writeFileSync(path, JSON.stringify(list));
        const said = execFileSync(python, [program, '--compare', kept, path], { encoding: 'utf8' });
        assert.deepEqual(JSON.parse(said), []);
      }
    } finally {
      reader.close();
    }
  });

  it('are copied as Python that makes no other value, whatever stands in them and wherever', async () => {
    const program = join(place.project, 'written.py');
    writeFileSync(program, WRITTEN);
    const expected = [...Object.entries(COPIED), ...Object.entries(MARKED)];
    const file = await place.record(program, ['--tool', JSON.stringify(expected.map(([expression]) => expression))]);
    const reader = new Reader(() => undefined);
    try {
      const ask = <K extends keyof ReaderMethods>(
        method: K,
        params: Omit<ReaderMethods[K]['params'], 'file'>,
      ): ReaderMethods[K]['result'] => reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
      const texts: string[] = [];
      for (const { id, name } of ask('search', { text: 'tool', limit: 1000 }).calls) {
        if (name !== 'tool') continue;
        const { input, output } = ask('call', { id });
        const copied = (value: number, path: string[]): string => ask('copy', { value, path, format: 'python' }).text;
        texts[Number(copied(input!.value, ['number']))] = copied(output!.value, []);
      }
      const read = Object.fromEntries(expected.map(([expression], index) => [expression, texts[index]]));
      for (const [expression, text] of Object.entries(MARKED))
        if (text instanceof RegExp) assert.match(read[expression] ?? '', text);
        else assert.equal(read[expression], text);
      const made = Object.keys(COPIED).map((expression) => [expression, read[expression]]);
      assert.deepEqual(Object.fromEntries(made), COPIED);
      const said = execFileSync(python, [program, '--compare', JSON.stringify(made)], { encoding: 'utf8' });
      assert.deepEqual(JSON.parse(said), []);
    } finally {
      reader.close();
    }
  });
});
