import { strict as assert } from 'node:assert';
import { breakpointLines, lineWithCode, meaningOf } from '../../language/lines';
import { functionsIn, readPython } from '../../language/python';

const text = `import functools

@tool
@functools.cache
def search(query: str,
           limit: int = 3) -> str:
    """Looks."""
    def inner():
        return 1
    return inner()

class Agent:
    async def plan(self):
        pass

one = lambda x: x
def short(): return 1
`;

describe('language', () => {
  it('finds functions with decorators, methods, nested and async ones', async () => {
    const found = await functionsIn(text);
    assert.deepEqual(
      found.map((each) => [each.qualifiedName, each.firstLine, each.line, each.lastLine, each.isTool]),
      [
        ['search', 3, 5, 10, true],
        ['search.inner', 8, 8, 9, false],
        ['Agent.plan', 13, 13, 14, false],
        ['short', 17, 17, 17, false],
      ],
    );
  });

  it('tells what a breakpoint on a line would stop', async () => {
    const found = await functionsIn(text);
    const say = (line: number) => {
      const meaning = meaningOf(line, found);
      return meaning.at === 'nothing' ? 'nothing' : `${meaning.at} ${meaning.function.name}`;
    };
    assert.deepEqual([1, 3, 4, 5, 6, 7, 9, 11, 13, 14, 17].map(say), [
      'nothing',
      'definition search',
      'definition search',
      'definition search',
      'definition search',
      'body search',
      'body inner',
      'nothing',
      'definition plan',
      'body plan',
      'definition short',
    ]);
  });

  it('tells where a breakpoint belongs', async () => {
    const file = await readPython(text);
    assert.deepEqual(breakpointLines(4, 17, file), [5, 8, 9, 10, 12, 13, 14, 16, 17]);
    assert.deepEqual(
      [1, 2, 7, 9, 11, 14, 15, 16].map((line) => lineWithCode(line, file)),
      [1, undefined, 10, 9, 12, 14, 16, 16],
    );
    const other = await readPython(`def f(x):
    # first
    if (x and
        x > 1):
        return [
            x,
        ]
    elif x:
        pass

    try:
        global y
        y = 1
    except KeyError:
        return None
    # nothing more

z = 1
`);
    assert.deepEqual(breakpointLines(1, 30, other), [1, 3, 5, 8, 9, 11, 13, 14, 15, 18]);
    assert.deepEqual(
      [4, 6, 7, 10, 12, 16, 17].map((line) => lineWithCode(line, other)),
      [4, 6, 7, 11, 13, undefined, 18],
    );
  });

  it('reads what it can of broken source', async () => {
    const found = await functionsIn('def good():\n    return 1\n\ndef bad(:\n');
    assert.equal(found[0]?.name, 'good');
  });
});
