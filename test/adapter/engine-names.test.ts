import assert from 'node:assert/strict';
import { problemOfHitCondition } from '../../adapter/model/breakpoint';
import { globMatches, parseNamePattern, sentenceForNoMatch } from '../../adapter/model/names';

describe('Function breakpoint texts', () => {
  const good: [string, unknown][] = [
    ['tool:search', { target: { type: 'function', kind: 'tool', glob: 'search' }, boundaries: ['before'] }],
    ['llm:*@after', { target: { type: 'function', kind: 'llm', glob: '*' }, boundaries: ['after'] }],
    [' workflow:** @error', { target: { type: 'function', kind: 'workflow', glob: '**' }, boundaries: ['error'] }],
    ['pkg.orders.*', { target: { type: 'function', glob: 'pkg.orders.*' }, boundaries: ['before'] }],
    ['state:verdict', { target: { type: 'data', path: 'verdict' }, boundaries: ['after'] }],
    [
      "state:verdict == 'scored'",
      { target: { type: 'data', path: 'verdict' }, condition: "value == 'scored'", boundaries: ['after'] },
    ],
    ['state:visits[1]', { target: { type: 'data', path: 'visits[1]' }, boundaries: ['after'] }],
  ];
  for (const [text, meaning] of good) {
    it(text, () => assert.deepEqual(parseNamePattern(text), meaning));
  }
  for (const text of ['', 'tol:search', 'tool:', 'search@later', 'a(b)', 'state:', 'state:a b', 'state:x = 3']) {
    it(`refuses "${text}"`, () => assert.ok('problem' in parseNamePattern(text)));
  }

  it('matches the short and the qualified name; one star stops at a dot', () => {
    assert.ok(globMatches('search', 'pkg.tools.search'));
    assert.ok(globMatches('pkg.*.search', 'pkg.tools.search'));
    assert.ok(!globMatches('pkg.*', 'pkg.tools.search'));
    assert.ok(globMatches('pkg.**', 'pkg.tools.search'));
    assert.ok(globMatches('*', 'a.b'));
    assert.ok(!globMatches('sear', 'search'));
    assert.ok(!globMatches('a+b', 'aab'));
  });

  it('lists what there is', () => {
    const known = [
      { kind: 'node' as const, name: 'plan' },
      { kind: 'tool' as const, name: 'search' },
    ];
    assert.equal(
      sentenceForNoMatch({ type: 'function', kind: 'tool', glob: 'x' }, known),
      'No tool matches. Known tools: search',
    );
    assert.equal(
      sentenceForNoMatch({ type: 'function', glob: 'x' }, known),
      'Nothing matches. Known tools: search. Known nodes: plan',
    );
    assert.equal(
      sentenceForNoMatch({ type: 'function', kind: 'llm', glob: 'x' }, known),
      'No model matches. None is known yet.',
    );
  });

  it('reads hit conditions', () => {
    for (const text of ['5', '==5', '> 5', '>=5', '<5', '%3', undefined]) {
      assert.equal(problemOfHitCondition(text), undefined);
    }
    for (const text of ['often', '5x', '!=5', '-1', '']) {
      assert.ok(problemOfHitCondition(text));
    }
  });
});
