/** What went wrong, in the words of whoever noticed. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
