import { closed, cut, same, shown, type Expected } from './values-table';

/** What is to be seen of the plain values of `fixtures/apps/values`, written down from what the app makes. */
export const PLAIN: Record<string, Expected> = {
  none: same('None', 'NoneType'),
  true: same('True', 'bool'),
  int: same('7', 'int'),
  minus: same('-7', 'int'),
  huge: same('1606938044258990275541962092341162602522202993782792835301376', 'int'),
  // Python itself writes no more than 4,300 digits.
  enormous: shown('an integer of 47549 bits', /^-0x[0-9a-f]+/, 'int', { copied: /^-0x[0-9a-f]{11000,}$/ }),
  float: same('0.1', 'float'),
  nan: same('nan', 'float', { copied: "float('nan')" }),
  inf: same('-inf', 'float', { copied: "float('-inf')" }),
  minus_zero: same('-0.0', 'float'),
  tiny: same('5e-324', 'float'),
  complex: same('(-0+nanj)', 'complex', { copied: "complex('(-0+nanj)')" }),
  text: same("'a \\'quote\\', \"another\", \\\\ and \\n'", 'str'),
  // What cannot be seen is escaped: marks of direction, controls, halves of a character.
  unicode: same("'é 日本 😀 \\u202e \\x00 \\ud800'", 'str'),
  markup: same("'<img src=x onerror=alert(1)>'", 'str'),
  long_text: shown(/^'(ab){1000}'… \(10000 characters\)$/, /^'(ab)+a?…b?(ab)+' \(10000 characters\)$/, 'str', {}),
  enormous_text: shown(/^'é{2000}'… \(3000000 characters\)$/, /^'é+…é+…'$/, 'str', {
    mark: cut(3_000_000),
    copied: /^'é+…'$/,
  }),
  bytes: shown('b"\\x00\'\\xff"', "b'\\x00\\'\\xff'", 'bytes', { copied: "b'\\x00\\'\\xff'" }),
  bytearray: same("bytearray(b'ab')", 'bytearray'),
  memory: closed('<memoryview> (a view of memory)', '<memoryview>', 'memoryview', 'a view of memory'),
  enormous_bytes: shown(/^b'(\\x07){200}'… \(100000000 bytes\)$/, /^b'(\\x07)+'… \(100000000 bytes\)$/, 'bytes', {
    mark: cut(100_000_000),
    copied: /^".*… \(100000000 in all\)"$/,
  }),
  list: same("[1, 2.0, '3', None, True, [4]]", 'list', {
    paneParts: { '[0]': '1', '[1]': '2.0', '[2]': "'3'", '[3]': 'None', '[4]': 'True', '[5]': '[4]' },
    parts: { '0': '1', '1': '2.0', '2': "'3'", '3': 'None', '4': 'True', '5': '[4]' },
  }),
  million: shown('list (1000000)', 'list (1000000)…', 'list', {
    paneParts: { '[0]': '0', '[1]': '1', '[2]': '2' },
    mark: cut(1_000_000),
    parts: { '0': '0', '1': '1', '2': '2' },
    copied: /^\[0, 1, 2, .*, '… \(1000000 in all\)'\]$/,
  }),
  million_texts: shown('list (1000000)', 'list (1000000)…', 'list', {
    paneParts: { '[0]': "'row 0'", '[1]': "'row 1'", '[2]': "'row 2'" },
    mark: cut(1_000_000),
    parts: { '0': "'row 0'", '1': "'row 1'", '2': "'row 2'" },
  }),
  wide: shown('dict (300000)', 'dict (300000)…', 'dict', {
    paneParts: { k0: '0', k1: '1', k2: '2' },
    mark: cut(300_000),
    parts: { k0: '0', k1: '1', k2: '2' },
    copied: /^\{'k0': 0, .*, '…': '\(300000 in all\)'\}$/,
  }),
  // At the 100th level, and not before it.
  deep: same('[[[list (1)]]]', 'list', {
    paneParts: { '[0]': '[[[list (1)]]]' },
    parts: { '0': '[[[list (1)]]]' },
    copied: /^\[{100,101}'… \(1 in all\)'\]{100,101}$/,
  }),
  tuple: same('(1, (2,), ())', 'tuple', {
    paneParts: { '[0]': '1', '[1]': '(2,)', '[2]': '()' },
    parts: { '0': '1', '1': '(2,)', '2': '()' },
  }),
  set: same('{1, 2, 3}', 'set', {
    paneParts: { '0': '1', '1': '2', '2': '3' },
    parts: { '0': '1', '1': '2', '2': '3' },
  }),
  frozenset: same('frozenset({frozenset({1})})', 'frozenset', {
    paneParts: { '0': 'frozenset({1})' },
    parts: { '0': 'frozenset({1})' },
  }),
  empty: same("[[], (), {}, set(), frozenset(), '', b'']", 'list', {
    paneParts: {
      '[0]': '[]',
      '[1]': '()',
      '[2]': '{}',
      '[3]': 'set()',
      '[4]': 'frozenset()',
      '[5]': "''",
      '[6]': "b''",
    },
    parts: { '0': '[]', '1': '()', '2': '{}', '3': 'set()', '4': 'frozenset()', '5': "''", '6': "b''" },
  }),
  keys: same('dict (7)', 'dict', {
    paneParts: {
      '1': "'int'",
      "'1'": "'str'",
      '1.5': "'float'",
      None: "'none'",
      "(1, 'a')": "'tuple'",
      "b'k'": "'bytes'",
      'frozenset({2})': "'frozenset'",
    },
    parts: {
      '1': "'int'",
      "'1'": "'str'",
      '1.5': "'float'",
      None: "'none'",
      "(1, 'a')": "'tuple'",
      "b'k'": "'bytes'",
      'frozenset({2})': "'frozenset'",
    },
    copied:
      "{1: 'int', '1': 'str', 1.5: 'float', None: 'none', (1, 'a'): 'tuple', b'k': 'bytes', frozenset({2}): 'frozenset'}",
  }),
  odd_keys: same('{nan: 1, True: 2, Colour.RED: 3, Point(x=1, y=2): 4, -1: 5}', 'dict', {
    parts: { nan: '1', True: '2', 'Colour.RED': '3', 'Point(x=1, y=2)': '4', '-1': '5' },
    copied: "{float('nan'): 1, True: 2, Colour.RED: 3, Point(x=1, y=2): 4, -1: 5}",
  }),
  object_keys: shown(
    "{Slotted(left=1, right='a'): 1, (2, Slotted(…)): 2, 'plain': 3}",
    "{Slotted(left=1, right='a'): 1, (2, Slotted(left=3, r…t=None)): 2, 'plain': 3}",
    'dict',
    {
      parts: { "Slotted(left=1, right='a')": '1', '(2, Slotted(left=3, right=None))': '2', plain: '3' },
      copied: "{Slotted(left=1, right='a'): 1, (2, Slotted(left=3, right=None)): 2, 'plain': 3}",
    },
  ),
  object_members: same("{Slotted(left=1, right='a')}", 'set', {
    parts: { '0': "Slotted(left=1, right='a')" },
  }),
  cycle: shown(
    "{'name': 'loop', 'self': {'name': 'loop', 'self': {'name': 'loop', 'self': dict (2)}}}",
    "{'name': 'loop', 'self': ↑}",
    'dict',
    {
      paneParts: {
        name: "'loop'",
        self: "{'name': 'loop', 'self': {'name': 'loop', 'self': {'name': 'loop', 'self': dict (2)}}}",
      },
      parts: { name: "'loop'", self: '↑ [The value contains itself here.]' },
      copied: "{'name': 'loop', 'self': '<contains itself>'}",
    },
  ),
  cycle_of_objects: shown(
    'Order(id=1, total=1.0, lines=[Order(id=2, total=2.0, lines=[...])])',
    'Order(id=1, total=1.0, lines=[Order(id=2, total=2.0, …)])',
    '__main__.Order',
    {
      paneParts: { id: '1', total: '1.0', lines: '[Order(id=2, total=2.0, lines=[Order(…)])]' },
      parts: { id: '1', total: '1.0', lines: '[Order(id=2, total=2.0, …)]' },
      copied: "Order(id=1, total=1.0, lines=[Order(id=2, total=2.0, lines=['<contains itself>'])])",
    },
  ),
  shared: same("{'one': {'id': 1}, 'other': {'id': 1}, 'both': [{'id': 1}, {'id': 1}]}", 'dict', {
    paneParts: { one: "{'id': 1}", other: "{'id': 1}", both: "[{'id': 1}, {'id': 1}]" },
    parts: { one: "{'id': 1}", other: "{'id': 1}", both: "[{'id': 1}, {'id': 1}]" },
  }),
};
