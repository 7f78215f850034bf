/**
 * Numbers of breakpoints that are set at an address. `list`: what lldb answers to `breakpoint list`. A program that comes to a place in the very moment in
 * which lldb puts a breakpoint there is told as one that trapped by itself ("signal SIGTRAP"), since lldb did not note the breakpoint yet.
 */
export function numbersAt(list: string, address: string): number[] {
  const wanted = BigInt(address);
  return [...list.matchAll(/^\s*(\d+)\.\d+:.*\baddress = (0x[\da-f]+),/gim)]
    .filter(([, , at]) => BigInt(at!) === wanted)
    .map(([, number]) => Number(number));
}
