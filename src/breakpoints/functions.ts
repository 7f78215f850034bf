import * as vscode from 'vscode';
import type { Sessions } from '../sessions';
import { ask } from '../sessions';
import { messageOf, say } from '../log';

export type Boundary = 'before' | 'after' | 'error';

/** `tool:search`, `tool:search@after`: the name of a function breakpoint. */
export function functionBreakpointName(kind: string, name: string, boundary: Boundary): string {
  return `${kind === '' ? '' : `${kind}:`}${name}${boundary === 'before' ? '' : `@${boundary}`}`;
}

export function addFunctionBreakpoint(name: string): void {
  const there = vscode.debug.breakpoints.some(
    (each) => each instanceof vscode.FunctionBreakpoint && each.functionName === name && each.enabled,
  );
  if (!there) vscode.debug.addBreakpoints([new vscode.FunctionBreakpoint(name)]);
}

interface NameItem extends vscode.QuickPickItem {
  kind?: vscode.QuickPickItemKind;
  pattern?: string;
}

const ICONS: Record<string, string> = { tool: 'tools', node: 'circle-large', workflow: 'type-hierarchy', llm: 'hubot' };

/** Asks for a tool, node, workflow or model by name, and for where to stop it. */
export async function askFunctionBreakpoint(sessions: Sessions): Promise<void> {
  const pattern = await askPattern(await knownNames(sessions));
  if (pattern === undefined) return;
  if (/@(after|error)$/.test(pattern)) {
    addFunctionBreakpoint(pattern);
    return;
  }
  const where = await vscode.window.showQuickPick(
    [
      { label: 'Before the call', description: 'arguments can be changed', boundary: 'before' as const },
      { label: 'After the call', description: 'the result can be changed', boundary: 'after' as const },
      { label: 'On error', description: 'when the call raises', boundary: 'error' as const },
    ],
    { title: `Break on ${pattern}`, placeHolder: 'Where to stop' },
  );
  if (where !== undefined) addFunctionBreakpoint(functionBreakpointName('', pattern, where.boundary));
}

async function knownNames(sessions: Sessions): Promise<NameItem[]> {
  const session = sessions.active;
  if (session === undefined) return [];
  try {
    const { names } = await ask(session, 'toolbreak/names', {});
    return names.map(({ kind, name, path, line }) => ({
      label: `$(${ICONS[kind] ?? 'symbol-function'}) ${name}`,
      description: kind,
      detail:
        path === undefined
          ? undefined
          : `${vscode.workspace.asRelativePath(path)}${line === undefined ? '' : `:${line}`}`,
      pattern: `${kind}:${name}`,
    }));
  } catch (error) {
    say('warning', `The session could not name its tools: ${messageOf(error)}. Type a name instead.`);
    return [];
  }
}

/** One of the known names, or what the person typed: `tool:search`, `node:*`. */
function askPattern(known: NameItem[]): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<NameItem>();
  pick.title = 'Add Function Breakpoint on a Tool, Node, Workflow or Model';
  pick.placeholder =
    known.length > 0
      ? 'Choose, or type a pattern such as tool:search, node:*'
      : 'Type a pattern such as tool:search, node:*, llm:*';
  pick.matchOnDescription = true;
  const generic: NameItem[] = [
    { label: 'Patterns', kind: vscode.QuickPickItemKind.Separator },
    { label: '$(tools) tool:*', description: 'every tool', pattern: 'tool:*' },
    { label: '$(circle-large) node:*', description: 'every node', pattern: 'node:*' },
    { label: '$(hubot) llm:*', description: 'every model call', pattern: 'llm:*' },
  ];
  const show = (typed: string) => {
    const own: NameItem[] =
      typed === '' ? [] : [{ label: `$(add) ${typed}`, description: 'as typed', pattern: typed, alwaysShow: true }];
    pick.items = [...known, ...generic, ...own];
  };
  show('');
  return new Promise((resolve) => {
    pick.onDidChangeValue((text) => show(text.trim()));
    pick.onDidAccept(() => {
      resolve(pick.activeItems[0]?.pattern);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
