import { strict as assert } from 'node:assert';
import { breakpointLines, meaningOf } from '../../language/lines';
import { functionsIn } from '../../language/python';

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
    assert.deepEqual(breakpointLines(4, 13, found), [5, 8, 13]);
  });

  it('reads what it can of broken source', async () => {
    const found = await functionsIn('def good():\n    return 1\n\ndef bad(:\n');
    assert.equal(found[0]?.name, 'good');
  });
});
