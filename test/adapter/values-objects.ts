import { closed, same, shown, type Expected } from './values-table';

/** What is to be seen of the objects of `fixtures/apps/values`, written down from what the app makes. */
export const OBJECTS: Record<string, Expected> = {
  enum: same('Colour.RED', '__main__.Colour', { parts: { value: "'r'" } }),
  int_enum: same('Level.LOW', '__main__.Level', { parts: { value: '1' } }),
  flag: same('Access.READ|WRITE', '__main__.Access', { parts: { value: '3' }, copied: 'Access.READ|Access.WRITE' }),
  dataclass: same("Order(id=7, total=2.5, lines=['a'])", '__main__.Order', {
    paneParts: { id: '7', total: '2.5', lines: "['a']" },
    parts: { id: '7', total: '2.5', lines: "['a']" },
  }),
  slots: shown(
    'Slotted(left=1, right=Slotted(left=2, right=None))',
    'Slotted(left=1, right=Slotted(…))',
    '__main__.Slotted',
    {
      paneParts: { left: '1', right: 'Slotted(left=2, right=None)' },
      parts: { left: '1', right: 'Slotted(left=2, right=None)' },
      copied: 'Slotted(left=1, right=Slotted(left=2, right=None))',
    },
  ),
  named_tuple: shown('Point(x=1, y=2)', 'Point(x=1, y=2)', '__main__.Point', {
    paneParts: { '[0]': '1', '[1]': '2', x: '1', y: '2' },
    parts: { x: '1', y: '2' },
    copied: 'Point(x=1, y=2)',
  }),
  model: same("Args(order_id=7, note='n', more=[1])", '__main__.Args', {
    paneParts: { order_id: '7', note: "'n'", more: '[1]' },
    parts: { order_id: '7', note: "'n'", more: '[1]' },
  }),
  account: shown(
    "Login(user='ann', password=SecretStr('**********'))",
    "Login(user='ann', password=***)",
    '__main__.Login',
    {
      paneParts: { user: "'ann'", password: "SecretStr('**********')" },
      parts: { user: "'ann'", password: '*** [Masked: password holds a secret.]' },
      copied: "Login(user='ann', password='<masked>')",
    },
  ),
  masked: shown("{'api_key': 'abc', 'note': 'fine'}", "{'api_key': ***, 'note': 'fine'}", 'dict', {
    paneParts: { api_key: "'abc'", note: "'fine'" },
    parts: { api_key: '*** [Masked: api_key holds a secret.]', note: "'fine'" },
    copied: "{'api_key': '<masked>', 'note': 'fine'}",
  }),
  message: same('ai: hi → lookup', 'langchain_core.messages.ai.AIMessage', {
    paneParts: {
      content: "'hi'",
      additional_kwargs: '{}',
      response_metadata: '{}',
      type: "'ai'",
      name: 'None',
      id: 'None',
      tool_calls: '[dict (4)]',
      invalid_tool_calls: '[]',
      usage_metadata: 'None',
    },
    parts: {
      content: "'hi'",
      additional_kwargs: '{}',
      response_metadata: '{}',
      type: "'ai'",
      name: 'None',
      id: 'None',
      tool_calls: '[dict (4)]',
      invalid_tool_calls: '[]',
      usage_metadata: 'None',
    },
    copied:
      "AIMessage(content='hi', additional_kwargs={}, response_metadata={}, type='ai', name=None, id=None, tool_calls=[{'name': 'lookup', 'args': {'id': 7}, 'id': '1', 'type': 'tool_call'}], invalid_tool_calls=[], usage_metadata=None)",
  }),
  messages: same('list (2)', 'list', {
    paneParts: { '[0]': 'human: please', '[1]': 'tool: found' },
    parts: { '0': 'human: please', '1': 'tool: found' },
    copied:
      "[HumanMessage(content='please', additional_kwargs={}, response_metadata={}, type='human', name=None, id=None), ToolMessage(content='found', additional_kwargs={}, response_metadata={}, type='tool', name=None, id=None, tool_call_id='1', artifact=None, status='success')]",
  }),
  datetime: same('2026-01-02T03:04:05.000006', 'datetime.datetime', {
    copied: "datetime.fromisoformat('2026-01-02T03:04:05.000006')",
  }),
  aware: same('2026-01-02T03:04:05+05:30', 'datetime.datetime', {
    copied: "datetime.fromisoformat('2026-01-02T03:04:05+05:30')",
  }),
  zone: same('2026-07-02T03:04:05+02:00', 'datetime.datetime', {
    copied: "datetime.fromisoformat('2026-07-02T03:04:05+02:00')",
  }),
  date: same('2026-01-02', 'datetime.date', { copied: "date.fromisoformat('2026-01-02')" }),
  time: same('03:04:05.000006', 'datetime.time', { copied: "time.fromisoformat('03:04:05.000006')" }),
  delta: shown('86400.000007 s', '86400.000007 s', 'datetime.timedelta', { copied: 'timedelta(seconds=86400.000007)' }),
  minus_delta: shown('-0.000001 s', '-0.000001 s', 'datetime.timedelta', { copied: 'timedelta(seconds=-0.000001)' }),
  least_delta: shown('-86399999913599.999999 s', '-86399999913599.999999 s', 'datetime.timedelta', {
    copied: 'timedelta(seconds=-86399999913599, microseconds=-999999)',
  }),
  decimal: same("Decimal('1.50')", 'decimal.Decimal'),
  // Its digits are in the C part of it.
  exact: shown("Decimal('1.50')", "Exact((value)='1.50', note='paid')", '__main__.Exact', {
    paneParts: { note: "'paid'" },
    parts: { '(value)': "'1.50'", note: "'paid'" },
    copied: "Exact((value)='1.50', note='paid')",
  }),
  fraction: same("Fraction('1/3')", 'fractions.Fraction'),
  address: same("IPv4Address('10.0.0.7')", 'ipaddress.IPv4Address'),
  network: same("IPv6Network('2001:db8::/32')", 'ipaddress.IPv6Network'),
  offset: shown("timezone('UTC+05:30')", 'UTC+05:30', 'datetime.timezone', {
    copied: 'timezone(timedelta(seconds=19800))',
  }),
  uuid: same("UUID('00000000-0000-0000-0000-000000000007')", 'uuid.UUID'),
  path: same("PurePosixPath('/a/b')", 'pathlib.PurePosixPath'),
  range: same('range(0, 10, 3)', 'range', { copied: 'range(0, 10, 3)' }),
  slice: same('slice(1, 2, None)', 'slice', { copied: 'slice(1, 2, None)' }),
  text_slice: shown("slice('a', 'b', None)", "slice(start='a', stop='b', step=None)", 'slice', {
    parts: { start: "'a'", stop: "'b'", step: 'None' },
    copied: "slice(start='a', stop='b', step=None)",
  }),
  not_implemented: same('NotImplemented', 'NotImplementedType', { copied: 'NotImplemented' }),
  ellipsis: shown('Ellipsis', '...', 'ellipsis', { copied: '...' }),
  deque: same('deque([1, 2])', 'collections.deque', {
    paneParts: { '[0]': '1', '[1]': '2' },
    parts: { '0': '1', '1': '2' },
    copied: 'deque([1, 2])',
  }),
  counter: shown("Counter({'a': 2, 'b': 1})", "Counter({'a': 2, 'b': 1})", 'collections.Counter', {
    paneParts: { a: '2', b: '1' },
    parts: { a: '2', b: '1' },
    copied: "Counter({'a': 2, 'b': 1})",
  }),
  ordered: same("OrderedDict({'b': 1, 'a': 2})", 'collections.OrderedDict', {
    paneParts: { b: '1', a: '2' },
    parts: { b: '1', a: '2' },
    copied: "OrderedDict({'b': 1, 'a': 2})",
  }),
  default: same("defaultdict({'a': [1]})", 'collections.defaultdict', {
    paneParts: { a: '[1]' },
    parts: { a: '[1]' },
    copied: "{'a': [1]}",
  }),
  array: shown("array('i', [1, 2])", 'array (2) i', 'array.array', {
    parts: { '0': '1', '1': '2' },
    copied: "array('i', [1, 2])",
  }),
  numpy: same('ndarray (2 × 3) int32', 'numpy.ndarray', {
    paneParts: { '[0]': 'ndarray (3) int32', '[1]': 'ndarray (3) int32' },
    parts: { '0': 'ndarray (3) int32', '1': 'ndarray (3) int32' },
    copied: "array([0, 1, 2, 3, 4, 5], dtype='int32').reshape(2, 3)",
  }),
  numpy_large: same('ndarray (1000 × 1000) float64', 'numpy.ndarray', {
    paneParts: { '[0]': 'ndarray (1000) float64', '[1]': 'ndarray (1000) float64', '[2]': 'ndarray (1000) float64' },
    mark: 'Only the first 100 of 1000000 elements were recorded.',
    parts: { '0': 'ndarray (1000) float64 [Only the first 100 of 1000 elements were recorded.]' },
    copied: /^\[\[0\.0, .*, 0\.0, '…'\], '…'\]$/,
  }),
  numpy_scalar: same('0.10000000149011612', 'numpy.float32'),
  numpy_bool: same('True', 'numpy.bool'),
  numpy_time: same('2026-01-02T03:04:05.000000006', 'numpy.datetime64', {
    copied: "datetime64('2026-01-02T03:04:05.000000006')",
  }),
  numpy_delta: same('5 nanoseconds', 'numpy.timedelta64', { copied: "'5 nanoseconds'" }),
  numpy_times: same('ndarray (2) datetime64[ns]', 'numpy.ndarray', {
    paneParts: { '[0]': '2026-01-02T00:00:00.000000000', '[1]': 'NaT' },
    parts: { '0': "'2026-01-02T00:00:00.000000000'", '1': "'NaT'" },
    copied: "array(['2026-01-02T00:00:00.000000000', 'NaT'], dtype='datetime64[ns]')",
  }),
  numpy_records: same("ndarray (1) [('id', '<i4'), ('name', '<U1')]", 'numpy.ndarray', {
    paneParts: { '[0]': "(1, 'a')" },
    parts: { '0': "(1, 'a')" },
    copied: "array([(1, 'a')], dtype=[('id', '<i4'), ('name', '<U1')])",
  }),
  numpy_objects: same('ndarray (2) object', 'numpy.ndarray', {
    paneParts: { '[0]': 'Order(id=1, total=1.0, lines=[])', '[1]': 'None' },
    parts: { '0': 'Order(id=1, total=1.0, lines=[])', '1': 'None' },
    copied: "array([Order(id=1, total=1.0, lines=[]), None], dtype='object')",
  }),
  // What the mask hides is no number.
  numpy_masked: shown(
    'masked_array(data=[1, --, 3],\n             mask=[False,  True, False],\n       fill_value=999999)',
    'MaskedArray (3) int64',
    'numpy.ma.MaskedArray',
    {
      paneParts: {
        '[0]': '1',
        '[1]': 'masked',
        '[2]': '3',
        _fill_value: 'ndarray () int64',
        _hardmask: 'False',
        _sharedmask: 'True',
        _isfield: 'False',
        _baseclass: '<class numpy.ndarray>',
        _optinfo: '{}',
        _basedict: '{}',
        _mask: 'ndarray (3) bool',
      },
      parts: { '0': '1', '1': "-- [Not looked into: the array's mask hides it.]", '2': '3' },
      copied: "[1, '<numpy.ma.masked -->', 3]",
    },
  ),
  numpy_long: same("np.longdouble('0.33333333333333333334')", 'numpy.longdouble', {
    copied: '"np.longdouble(\'0.33333333333333333334\')"',
  }),
  error: same('Failed: order 7 failed', '__main__.Failed', {
    paneParts: { order: '7', args: "('order 7 failed',)", cause: "OSError: [Errno 28] No space left: 'orders.db'" },
    parts: { cause: "OSError: [Errno 28] No space left: 'orders.db'", order: '7' },
    copied: "Failed('order 7 failed')",
  }),
  group: same('ExceptionGroup: two (2 sub-exceptions)', 'ExceptionGroup', {
    paneParts: { args: "('two', [ValueError: a, KeyError: 'b'])" },
    parts: { exceptions: "(ValueError: a, KeyError: 'b')" },
    copied: "ExceptionGroup('two', [ValueError('a'), KeyError('b')])",
  }),
  function: closed('<function __main__.nested>', '__main__.nested', 'function', 'a function'),
  method: closed('<function __main__.Order.__init__>', '__main__.Order.__init__', 'method', 'a method'),
  lambda: closed(
    '<function __main__.<lambda>.<locals>.<lambda>>',
    '__main__.<lambda>.<locals>.<lambda>',
    'function',
    'a function',
  ),
  partial: closed(
    /^functools\.partial\(<function nested at 0x[0-9a-f]+>, 3\)$/,
    '<partial>',
    'functools.partial',
    'a live object of functools',
  ),
  class: closed('<class __main__.Order>', '__main__.Order', 'type', 'a class'),
  module: closed('<module> (a module)', 'sys', 'module', 'a module'),
  lock: closed(/^<unlocked _thread\.lock object at 0x[0-9a-f]+>$/, '<lock>', '_thread.lock', 'a lock or thread'),
  thread: closed('<Thread(worker, initial)>', '<Thread>', 'threading.Thread', 'a lock or thread'),
  event: closed(/^<threading\.Event at 0x[0-9a-f]+: unset>$/, '<Event>', 'threading.Event', 'a lock or thread', {
    paneParts: { _cond: /^<Condition\(<unlocked _thread\.lock object at 0x[0-9a-f]+>, 0\)>$/, _flag: 'False' },
  }),
  queue: closed('<queue.Queue>', '<Queue>', 'queue.Queue', 'a live object of queue', {
    paneParts: {
      maxsize: '0',
      queue: 'deque()',
      mutex: /^<unlocked _thread\.lock object at 0x[0-9a-f]+>$/,
      not_empty: /^<Condition\(<unlocked _thread\.lock object at 0x[0-9a-f]+>, 0\)>$/,
      not_full: /^<Condition\(<unlocked _thread\.lock object at 0x[0-9a-f]+>, 0\)>$/,
      all_tasks_done: /^<Condition\(<unlocked _thread\.lock object at 0x[0-9a-f]+>, 0\)>$/,
      unfinished_tasks: '0',
    },
  }),
  socket: closed(
    /^<socket\.socket fd=\d+, family=2, type=1, proto=0, laddr=\('0\.0\.0\.0', 0\)>$/,
    '<socket>',
    'socket.socket',
    'a socket',
    { paneParts: { _closed: 'False', _io_refs: '0' } },
  ),
  generator: closed(
    '<generator> (a generator; reading it would change it)',
    'numbers',
    'generator',
    'a generator; reading it would change it',
  ),
  iterator: closed(
    '<list_iterator> (it has no fields that can be read without running code)',
    '<list_iterator>',
    'list_iterator',
    'it has no fields that can be read without running code',
  ),
  object: closed(
    '<object> (it has no fields that can be read without running code)',
    '<object>',
    'object',
    'it has no fields that can be read without running code',
  ),
  raising: shown('Raising(kept=7) (its __repr__ raised ValueError: no text)', 'Raising(kept=7)', '__main__.Raising', {
    paneParts: { kept: '7' },
    parts: { kept: '7' },
    copied: 'Raising(kept=7)',
  }),
  // A held object is shown in its own words; its fields say what it is.
  lying: shown('Lying(total=8)', 'Lying(total=7)', '__main__.Lying', {
    paneParts: { total: '7' },
    parts: { total: '7' },
    copied: 'Lying(total=7)',
  }),
  // What has no parts shows what it is beside what it says.
  lying_text: shown("'true' (its __repr__ says 'other')", "'true'", '__main__.LyingText', { copied: "'true'" }),
  lying_number: shown('7 (its __repr__ says 8)', '7', '__main__.LyingNumber', { copied: '7' }),
  // As above: its parts say what it is.
  lying_list: shown('[]', 'LyingList([1, 2])', '__main__.LyingList', {
    paneParts: { '[0]': '1', '[1]': '2' },
    parts: { '0': '1', '1': '2' },
    copied: '[1, 2]',
  }),
  lying_dict: same("LyingDict({'a': 1})", '__main__.LyingDict', {
    paneParts: { a: '1' },
    parts: { a: '1' },
    copied: "{'a': 1}",
  }),
};
