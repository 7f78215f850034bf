/** As it is typed in a shell. */
export function typed(word: string): string {
  return /^[\w.,/:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
