/**
 * Numbers of breakpoints that are set at an address. `list`: what lldb answers to `breakpoint list`. A program that comes to a place in the very moment in
 * which lldb puts a breakpoint there is told as one that trapped by itself ("signal SIGTRAP"), since lldb did not note the breakpoint yet.
 */
export function numbersAt(list: string, address: string): number[] {
  if (!/^0x[\da-f]+$/i.test(address)) return [];
  const wanted = BigInt(address);
  // One that is disabled, or could not be put there, is "unresolved".
  return [...list.matchAll(/^\s*(\d+)\.\d+:.*\baddress = (0x[\da-f]+), (?:hardware, )?resolved\b/gim)]
    .filter(([, , at]) => BigInt(at!) === wanted)
    .map(([, number]) => Number(number));
}
