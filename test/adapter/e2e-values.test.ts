import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { CallDetail, ReaderMethods, ValueNode } from '../../protocol/timeline';
import { Reader } from '../../adapter/store/reader/reader';
import { apps, python, scenes } from './e2e-support';
import { run } from './life-support';
import { toolbreakCommand } from '../support/adapter';
import { OBJECTS } from './values-objects';
import { PLAIN } from './values-plain';
import type { Expected } from './values-table';

const EXPECTED: Record<string, Expected> = { ...PLAIN, ...OBJECTS };
const program = join(apps, 'values', 'values.py');
/** Rows of the pane that are fetched of a value with more. */
const FIRST = 20;

interface Seen {
  text: string;
  type: string;
  parts: Record<string, string>;
}

/** A text that is given stands for itself. */
function assertText(actual: string | undefined, expected: string | RegExp | undefined, what: string): void {
  if (expected instanceof RegExp) assert.match(actual ?? '(nothing)', expected, what);
  else assert.equal(actual, expected, what);
}

function assertParts(
  actual: Record<string, string>,
  expected: Record<string, string | RegExp> | undefined,
  what: string,
): void {
  for (const [name, text] of Object.entries(expected ?? {})) assertText(actual[name], text, `${what}, ${name}`);
}

scenes('Every kind of value, held and recorded', (scene) => {
  const names = execFileSync(python, [program, '--list'], { encoding: 'utf8' }).trim().split('\n');

  it('each has a line in the table of what is to be seen', () => {
    assert.deepEqual(Object.keys(EXPECTED), names);
  });

  it('is what it was or carries a mark: in the Variables pane, in evaluations, on the timeline, in copies and in `toolbreak show`', async function () {
    this.timeout(180_000);
    const s = scene();
    await s.launch({ program }, { dots: { [program]: ['tool'] } });
    for (const name of names) {
      const stop = await s.stop();
      const args = await s.client.scope(stop.top.id, 'Arguments');
      assert.equal(args.get('name')!.value, `'${name}'`);
      const seen = await pane(args.get('value')!);
      const { pane: text, paneType, paneParts } = EXPECTED[name]!;
      assertText(seen.text, text, `${name} in the pane`);
      assert.equal(seen.type, paneType, `type of ${name} in the pane`);
      assertParts(seen.parts, paneParts, `${name} in the pane`);
      assert.equal(await s.evaluate(stop, 'value'), seen.text, `${name} evaluated`);
      await s.go(stop);
    }
    assert.equal(await s.exit(), 'done\n');
    assert.equal(s.client.output['stderr'], undefined);
    const file = await s.recording();

    const reader = new Reader(() => undefined);
    const ask = <K extends keyof ReaderMethods>(
      method: K,
      params: Omit<ReaderMethods[K]['params'], 'file'>,
    ): ReaderMethods[K]['result'] => reader.handle(method, { file, ...params }) as ReaderMethods[K]['result'];
    try {
      const { calls } = ask('search', { text: 'tool', limit: 1000 });
      const details = calls
        .filter((call) => call.name === 'tool')
        .map(({ id }) => ask('call', { id }))
        .sort((one, other) => one.call.start - other.call.start);
      assert.equal(details.length, names.length);
      for (const [index, detail] of details.entries()) assertRecorded(names[index]!, detail, ask);
      for (const index of [names.indexOf('million'), names.indexOf('masked'), names.indexOf('generator')])
        await assertShown(names[index]!, file, details[index]!, s.env, ask);
    } finally {
      reader.close();
    }

    async function pane(variable: DebugProtocol.Variable): Promise<Seen> {
      const parts: Record<string, string> = {};
      const { variablesReference, namedVariables = 0, indexedVariables = 0 } = variable;
      const few = namedVariables <= FIRST && indexedVariables <= FIRST;
      const pages = few
        ? [{}]
        : [{ filter: namedVariables > indexedVariables ? 'named' : 'indexed', start: 0, count: FIRST } as const];
      if (variablesReference > 0)
        for (const page of pages)
          for (const { name, value } of (await s.client.request('variables', { variablesReference, ...page }))
            .variables)
            parts[name] ??= value;
      return { text: variable.value, type: variable.type ?? '', parts };
    }
  });
});

type Ask = <K extends keyof ReaderMethods>(
  method: K,
  params: Omit<ReaderMethods[K]['params'], 'file'>,
) => ReaderMethods[K]['result'];

/** As the timeline shows the call, argument and result. */
function assertRecorded(name: string, detail: CallDetail, ask: Ask): void {
  const { shown, shownType, mark, parts, copied }: Expected = EXPECTED[name]!;
  const input = ask('value', { value: detail.input!.value, path: [], start: 0, count: 10 }).nodes;
  assert.deepEqual([input[0]!.name, input[0]!.text], ['name', `'${name}'`]);
  for (const [where, node, value, path] of [
    ['argument', input[1]!, detail.input!.value, ['value']],
    ['result', detail.output!.root, detail.output!.value, []],
  ] as [string, ValueNode, number, string[]][]) {
    const what = `${where} ${name}`;
    assertText(node.text, shown, what);
    assert.equal(node.type, shownType, `type of ${what}`);
    assertText(node.mark, mark, `mark of ${what}`);
    const inside = node.children > 0 ? ask('value', { value, path, start: 0, count: 20 }).nodes : [];
    const texts = inside.map((part) => [part.name, part.mark ? `${part.text} [${part.mark}]` : part.text] as const);
    assertParts(Object.fromEntries(texts), parts, what);
    if (parts !== undefined && node.children <= 20)
      assert.deepEqual(texts.map(([part]) => part).sort(), Object.keys(parts).sort(), `parts of ${what}`);
    if (copied !== undefined)
      assertText(ask('copy', { value, path, format: 'python' }).text, copied, `copy of ${what}`);
  }
}

/** `toolbreak show`: the same text and mark as the timeline, as JSON and for a person. */
async function assertShown(
  name: string,
  file: string,
  detail: CallDetail,
  env: NodeJS.ProcessEnv,
  ask: Ask,
): Promise<void> {
  const show = async (...more: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(
      process.execPath,
      toolbreakCommand('show', file, detail.call.id, ...more),
      { cwd: apps, env },
    );
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const text = await show();
  const [, argument] = ask('value', { value: detail.input!.value, path: [], start: 0, count: 10 }).nodes;
  const halves = text.split('\nResult\n');
  assert.equal(halves.length, 2, text);
  // Each was recorded by itself: time may have cut one, and size the other.
  for (const [index, mark] of [argument!.mark, detail.output!.root.mark].entries())
    assert.equal(halves[index]!.split(`(${mark ?? 'Masked: api_key holds a secret.'})`).length, 2, `${name}: ${text}`);
  const json = JSON.parse(await show('--json')) as { arguments: { value: unknown }; result: unknown };
  for (const value of [json.arguments.value, json.result]) {
    if (name === 'masked') {
      const secret = { $mark: 'masked', reason: 'Masked: api_key holds a secret.' };
      assert.deepEqual(value, { api_key: secret, note: 'fine' });
      continue;
    }
    const { $mark, reason, value: kept } = value as { $mark: string; reason: string; value: unknown };
    assert.equal($mark, name === 'million' ? 'cut' : 'opaque');
    assert.match(reason, name === 'million' ? /^Cut after \d+ of 1000000: / : /reading it would change it\.$/);
    if (name === 'million') assert.deepEqual((kept as unknown[]).slice(0, 3), [0, 1, 2]);
    else assert.equal(kept, '<generator numbers>');
  }
}
