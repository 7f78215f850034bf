/**
 * The Node that runs our child processes: the extension host's own. On the desktop that is Electron, which is Node only when told so;
 * the variable does no harm elsewhere.
 */
export function nodeCommand(): { command: string; env: Record<string, string> } {
  return { command: process.execPath, env: { ELECTRON_RUN_AS_NODE: '1' } };
}
