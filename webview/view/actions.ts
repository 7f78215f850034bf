import type { CallDetail, CallRow } from '../../protocol/timeline';
import type { Page } from '../data/page';
import { isEvent } from '../model/kinds';
import type { MenuItem } from './menu';
import { copyValue } from './tree';

/** Asks the host for something that has no answer to show; a refusal is said in the live region. */
function attempt(page: Page, asked: Promise<unknown>): void {
  asked.catch((error: unknown) => page.tell(error instanceof Error ? error.message : String(error)));
}

export function openSource(page: Page, path: string, line: number): void {
  attempt(page, page.ask('openSource', { path, line }));
}

export function goToSource(page: Page, detail: CallDetail): void {
  if (detail.source) openSource(page, detail.source.path, detail.source.line);
  else page.tell('No source line is known of this');
}

function copyText(page: Page, text: string): void {
  attempt(
    page,
    page.ask('copyText', { text }).then(() => page.tell('Copied')),
  );
}

/** Before, after, on error: breakpoints for the calls to come. */
export function breakItems(page: Page, detail: CallDetail, prefix = ''): MenuItem[] {
  const { kind, name } = detail.call;
  const item = (label: string, boundary: 'before' | 'after' | 'error'): MenuItem => ({
    label: prefix === '' ? label : `${prefix} ${label}`,
    run: () =>
      attempt(
        page,
        page.ask('breakHere', { path: detail.source?.path, line: detail.source?.line, kind, name, boundary }),
      ),
  });
  return [item('Before', 'before'), item('After', 'after'), item('On Error', 'error')];
}

/** The context menu of a call. Its detail is on its way when the menu opens, so what needs it is asked for when chosen. */
export function callItems(page: Page, call: CallRow): MenuItem[] {
  const withDetail = (act: (detail: CallDetail) => void): (() => void) => {
    return () => {
      const file = page.file;
      if (file === undefined) return;
      const known = page.selection?.detail;
      if (known?.call.id === call.id) act(known);
      else attempt(page, page.ask('call', { file, id: call.id }).then(act));
    };
  };
  const breakAt = (index: number): (() => void) => withDetail((detail) => breakItems(page, detail)[index]?.run());
  const copyInput = (format: 'json' | 'python'): (() => void) =>
    withDetail((detail) => {
      if (detail.input) void copyValue(page, detail.input.value, detail.input.path ?? [], format);
      else page.tell('This call has no recorded arguments');
    });
  if (isEvent(call))
    return [
      { label: 'Go to Source', icon: 'go-to-file', run: withDetail((detail) => goToSource(page, detail)) },
      {
        label: 'Copy Text',
        icon: 'copy',
        run: withDetail((detail) => copyText(page, detail.event?.text ?? detail.call.name)),
      },
      { label: 'Fit', icon: 'screen-normal', keys: 'F', separated: true, run: () => page.window.fitSelection() },
    ];
  return [
    { label: 'Break Before', icon: 'debug-breakpoint', run: breakAt(0) },
    { label: 'Break After', run: breakAt(1) },
    { label: 'Break on Error', run: breakAt(2) },
    {
      label: 'Go to Source',
      icon: 'go-to-file',
      separated: true,
      run: withDetail((detail) => goToSource(page, detail)),
    },
    { label: 'Copy Arguments as JSON', icon: 'copy', separated: true, run: copyInput('json') },
    { label: 'Copy Arguments as Python', run: copyInput('python') },
    {
      label: 'Select for Compare',
      icon: 'diff',
      keys: 'C',
      separated: true,
      run: () => page.comparing.choose(call),
    },
    {
      label: page.compared ? `Compare with ${page.compared.name}` : 'Compare with Selected',
      keys: 'Shift+C',
      disabled: !page.compared || page.compared.id === call.id,
      run: () => page.comparing.with(call),
    },
    { label: 'Find Calls Like This', icon: 'search', separated: true, run: () => void page.finder.find(call.name) },
    { label: 'Fit', icon: 'screen-normal', keys: 'F', run: () => page.window.fitSelection() },
  ];
}
