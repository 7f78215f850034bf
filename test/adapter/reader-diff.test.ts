import assert from 'node:assert/strict';
import { diff } from '../../adapter/store/reader/diff';
import { copyText } from '../../adapter/store/reader/copy';
import { line } from '../../adapter/store/reader/render';
import type { StoredValues } from '../../adapter/store/reader/stored';
import { Tagged, Tuple, type Value } from '../../adapter/store/values/model';
import { dict } from '../support/spool';

/** Nothing here is stored on its own. */
const plain = { resolve: (value: Value) => value } as StoredValues;

describe('store: what changed in a value of which a part was recorded', () => {
  it('says nothing of what is behind a cut, and what it knows before it', () => {
    const cut = (kind: string, head: Value, total: number): Tagged =>
      new Tagged('cut', [kind, head, total, 'too large']);
    const list = (...head: Value[]): Tagged => cut('list', head, 100);
    const own = (value: Value, name = 'app.Bag'): Tagged => new Tagged('subclass', [name, value]);
    const order = new Tagged('object', ['app.Order', dict({ id: 7 }), null]);
    const said = (before: Value, after: Value): string[] =>
      diff(dict({ x: before }), dict({ x: after }), plain).changes.map(({ change, path }) => `${change} ${path}`);
    const same: [Value, Value][] = [
      [list(1, 2, 3), list(1, 2)],
      [[1, 2], cut('list', [], 2)],
      [cut('dict', dict({ a: 1 }), 2), dict({ a: 1, b: 2 })],
      [own(cut('dict', dict({ a: 1 }), 2)), own(dict({ a: 1, b: 2 }))],
      [new Tuple([1, 2]), cut('tuple', new Tuple([1]), 2)],
      ['abcdef', cut('str', 'abc', 6)],
      [cut('bytes', Buffer.from('ab'), 9), cut('bytes', Buffer.from('abc'), 9)],
      [order, cut('app.Order', null, 0)],
      [
        new Tagged('object', ['app.Order', dict({ id: 7, '…': cut('fields', null, 1) }), null]),
        new Tagged('object', ['app.Order', dict({ id: 7, note: 'x' }), null]),
      ],
      [cut('app.Order', null, 0), cut('app.Order', null, 0)],
    ];
    for (const [one, other] of same) {
      assert.deepEqual(said(one, other), []);
      assert.deepEqual(said(other, one), []);
    }
    assert.deepEqual(said(list(1, 2, 3), list(1, 'early', 3)), ['changed x[1]']);
    assert.deepEqual(said(list(1, 2, 3, 4), list(1, 3)), ['removed x[1]']);
    assert.deepEqual(said(list(1, 3), list(1, 2, 3)), ['added x[1]']);
    assert.deepEqual(said(cut('dict', dict({ a: 1 }), 2), dict({ a: 5, b: 2 })), ['changed x.a']);
    const changed: [Value, Value][] = [
      [[1, 2, 3], cut('list', [], 2)],
      [list(1, 2), cut('tuple', new Tuple([1, 2]), 100)],
      [own(cut('dict', dict({ a: 1 }), 2)), own(dict({ a: 1, b: 2 }), 'app.Sack')],
      [cut('dict', dict({ a: 1 }), 2), own(dict({ a: 1, b: 2 }))],
      ['abcdef', cut('str', 'abc', 7)],
      ['abcdef', cut('str', 'abx', 6)],
      [order, cut('app.Item', null, 0)],
      [7, cut('app.Order', null, 0)],
      [null, cut('list', [], 2)],
    ];
    for (const [one, other] of changed) {
      assert.deepEqual(said(one, other), ['changed x']);
      assert.deepEqual(said(other, one), ['changed x']);
    }
  });

  it('shows an object that had no room by its type', () => {
    const lost = new Tagged('cut', ['app.Order', null, 0, 'too large']);
    assert.equal(line(lost, plain), 'Order…');
    const marked = { $mark: 'cut', reason: 'Cut: too large.', type: 'app.Order' };
    assert.deepEqual(JSON.parse(copyText(lost, plain, 'marked')), marked);
  });
});
