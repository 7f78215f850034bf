/** Beyond those that JSON escapes by itself: control characters, and marks that turn the order of a line. */
const ACTING = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON in which nothing acts on a terminal that shows it: such characters are written as escapes, which are the same texts to a program. */
export function inertJson(json: string): string {
  return json.replace(ACTING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
