/** What is to be seen of one value. A text that is given stands for itself. */
export interface Expected {
  /** In the Variables pane, and of its parts by their names. */
  pane: string | RegExp;
  paneType: string;
  paneParts?: Record<string, string | RegExp>;
  /** On the timeline, in the command's answers, and of its parts by their names: all of them, or the first of many. */
  shown: string | RegExp;
  shownType: string;
  parts?: Record<string, string>;
  /** Why it is not all there; absent where it is. */
  mark?: string | RegExp;
  /** As Python text. */
  copied?: string | RegExp;
}

type More = Partial<Expected>;

const short = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

export function shown(pane: string | RegExp, text: string | RegExp, type: string, more: More = {}): Expected {
  return { pane, paneType: short(type), shown: text, shownType: type, ...more };
}

/** The same text everywhere. */
export function same(text: string, type: string, more: More = {}): Expected {
  return shown(text, text, type, { copied: text, ...more });
}

/** What has nothing to open, and why. */
export function closed(pane: string | RegExp, text: string, type: string, why: string, more: More = {}): Expected {
  const copied = text.startsWith('<') ? `'<${type}>'` : `'<${type} ${text}>'`;
  return shown(pane, text, type, { mark: `Not looked into: ${why}.`, copied, ...more });
}

/** Cut by the limit of bytes, or on a slow machine by that of time. */
export function cut(all: number): RegExp {
  return new RegExp(
    `^Cut after \\d+ of ${all}: (larger than the limit of 1048576 bytes|took longer than 0\\.25 s to record)\\.$`,
  );
}
