import { closeSync, openSync, readSync } from 'node:fs';

const MACH = new Set([0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe, 0xbebafeca]);

/** What machine code a file holds, by its first bytes; nothing for anything else, such as a script. */
export function binaryKind(path: string): 'elf' | 'mach-o' | 'pe' | undefined {
  const head = read(path, 0, 4);
  if (head === undefined || head.length < 4) return undefined;
  if (head.toString('latin1') === '\x7fELF') return 'elf';
  if (MACH.has(head.readUInt32BE(0))) return 'mach-o';
  return head.toString('latin1', 0, 2) === 'MZ' ? 'pe' : undefined;
}

/** The machine of an ELF file, as its header numbers it; 62 is x86-64, 183 is ARM64. */
export function elfMachine(path: string): number | undefined {
  const head = read(path, 0, 20);
  if (head === undefined || head.length < 20 || head.toString('latin1', 0, 4) !== '\x7fELF') return undefined;
  return head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18);
}

const ELF_CORE = 4;
const MACH_CORE = 4;

/** Whether a file holds what a program left behind that ended: a core of Linux or macOS, or a minidump; undefined where it cannot be read. */
export function isCore(path: string): boolean | undefined {
  const head = read(path, 0, 20);
  if (head === undefined) return undefined;
  if (head.length < 20) return false;
  if (head.toString('latin1', 0, 4) === 'MDMP') return true;
  if (head.toString('latin1', 0, 4) === '\x7fELF')
    return (head[5] === 2 ? head.readUInt16BE(16) : head.readUInt16LE(16)) === ELF_CORE;
  return MACH.has(head.readUInt32BE(0)) && [head.readUInt32BE(12), head.readUInt32LE(12)].includes(MACH_CORE);
}

/** Whether an ELF file carries debug information of its own, or names where it is; undefined where that cannot be told. */
export function hasDebugInformation(path: string): boolean | undefined {
  const head = read(path, 0, 64);
  if (head === undefined || head.length < 64 || head.toString('latin1', 0, 4) !== '\x7fELF') return undefined;
  // Only the usual: 64 bits, little end first.
  if (head[4] !== 2 || head[5] !== 1) return undefined;
  const at = Number(head.readBigUInt64LE(40));
  const size = head.readUInt16LE(58);
  const count = head.readUInt16LE(60);
  const names = head.readUInt16LE(62);
  const table = read(path, at, size * count);
  if (size < 64 || table === undefined || table.length < size * count || names >= count) return undefined;
  const nameAt = Number(table.readBigUInt64LE(names * size + 24));
  const nameSize = Number(table.readBigUInt64LE(names * size + 32));
  if (nameSize > 1 << 20) return undefined;
  const text = read(path, nameAt, nameSize)?.toString('latin1') ?? '';
  return /\0\.(?:z?debug_info|gnu_debuglink)\0/.test(`\0${text}\0`);
}

function read(path: string, at: number, size: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, at));
  } catch {
    // Whoever starts the file says why it cannot be read.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
