/** `in the editor`, `by Neovim`: who asked for it, of the names that the session gives its clients. */
export function askedBy(client: string | undefined): string | undefined {
  if (client === undefined || client === '') return undefined;
  // The one that started the session; there is no other of this name.
  if (/^editor-\d+( \(.*\))?$/s.test(client)) return 'in the editor';
  const [, number, name] = /^client-(\d+)(?: \((.+)\))?$/s.exec(client) ?? [];
  return `by ${name ?? (number === undefined ? client : `client ${number}`)}`;
}

/** Why a hold ended, where nobody asked for it. */
const BY_ITSELF: Record<string, string> = {
  deadline: 'its time was up',
  cancelled: 'the call was cancelled',
};

const STEPS: Record<string, string> = { over: 'Step over', in: 'Step into', out: 'Step out' };

interface Said {
  why?: string | undefined;
  action?: string | undefined;
  step?: string | undefined;
  client?: string | undefined;
}

/** `Released in the editor`, `Step over in the editor`, `Released: its time was up`. */
export function releaseText({ why, action, step, client }: Said): string {
  const by = askedBy(client);
  const reason = BY_ITSELF[why ?? action ?? ''];
  if (by === undefined && reason !== undefined) return `Released: ${reason}`;
  const title = step === undefined ? 'Released' : (STEPS[step] ?? `Step ${step}`);
  return by === undefined ? title : `${title} ${by}`;
}
