import type { ControlRequests, Instruction, ModuleInfo } from '../../../protocol/control';
import { UserError } from '../../common/errors';
import type { DelegateClient } from '../delegate/client';

type Args<K extends keyof ControlRequests> = Omit<ControlRequests[K]['arguments'], 'client'>;
type Body<K extends keyof ControlRequests> = Promise<ControlRequests[K]['body']>;

/** Larger pieces are read in parts by whoever wants them. */
const MOST_BYTES = 1 << 20;
const MOST_INSTRUCTIONS = 10_000;
/** Bytes of a function's beginning, to which machine code is read backwards. */
const LARGEST_FUNCTION = 1 << 17;
/** Bytes of one command, where memory is read by commands. */
const BYTES_A_COMMAND = 4096;

/** Memory, machine code and libraries of a process, by request where the delegate has one, else by commands of lldb. */
export class NativeMemory {
  constructor(
    private readonly client: DelegateClient,
    private readonly command: (text: string) => Promise<string>,
    /** lldb-dap 19 takes the offset in instructions for one in bytes. */
    private readonly offsetIsBytes: boolean,
  ) {}

  async read({ reference, offset = 0, count }: Args<'readMemory'>, signal?: AbortSignal): Body<'readMemory'> {
    const wanted = Math.min(count, MOST_BYTES);
    if (this.client.can('readMemory')) {
      const body = await this.client.request(
        'readMemory',
        { memoryReference: reference, offset, count: wanted },
        { signal },
      );
      return {
        address: typeof body?.address === 'string' ? body.address : reference,
        ...(body?.data ? { data: body.data } : {}),
        ...(body?.unreadableBytes ? { unreadable: body.unreadableBytes } : {}),
      };
    }
    const address = addressOf(reference, offset);
    const parts: Buffer[] = [];
    for (let at = 0; at < wanted; at += BYTES_A_COMMAND) {
      const size = Math.min(BYTES_A_COMMAND, wanted - at);
      const from = hex(address + BigInt(at));
      const part = parseBytes(await this.command(`memory read --force --size 1 --format x --count ${size} ${from}`));
      parts.push(part.subarray(0, size));
      if (part.length < size) break;
    }
    const data = Buffer.concat(parts);
    return {
      address: hex(address),
      ...(data.length > 0 ? { data: data.toString('base64') } : {}),
      ...(data.length < wanted ? { unreadable: wanted - data.length } : {}),
    };
  }

  async write({ reference, offset = 0, data }: Args<'writeMemory'>, signal?: AbortSignal): Body<'writeMemory'> {
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length === 0) return { written: 0 };
    if (this.client.can('writeMemory')) {
      const body = await this.client.request(
        'writeMemory',
        { memoryReference: reference, offset, data, allowPartial: false },
        { signal },
      );
      return { written: body?.bytesWritten ?? bytes.length };
    }
    const from = hex(addressOf(reference, offset));
    const list = [...bytes].map((byte) => `0x${byte.toString(16)}`).join(' ');
    const said = await this.command(`memory write --size 1 ${from} ${list}`);
    if (/error:/.test(said)) throw new UserError(`Nothing can be written at ${from}.`);
    return { written: bytes.length };
  }

  async disassemble(
    { reference, offset, instructionOffset, count }: Args<'disassemble'>,
    signal?: AbortSignal,
  ): Body<'disassemble'> {
    if (!this.client.can('disassemble')) throw new UserError(`${this.client.name} cannot disassemble.`);
    const most = Math.min(count, MOST_INSTRUCTIONS);
    if (!this.offsetIsBytes) {
      return { instructions: await this.#instructions(reference, offset, instructionOffset, most, signal) };
    }
    const from = addressOf(reference, offset ?? 0);
    const before = Math.max(-MOST_INSTRUCTIONS, Math.min(instructionOffset ?? 0, MOST_INSTRUCTIONS));
    if (before >= 0) {
      const all = await this.#instructions(hex(from), undefined, undefined, before + most, signal);
      return { instructions: all.slice(before) };
    }
    // Backwards only from where the function begins: nothing else says where instructions do.
    const start = await this.#functionStart(from);
    const all = await this.#instructions(
      hex(start),
      undefined,
      undefined,
      Math.min(Number(from - start), LARGEST_FUNCTION) + most,
      signal,
    );
    const here = all.findIndex(({ address }) => BigInt(address) === from);
    const first = Math.max(here, 0) + before;
    const missing = Math.max(-first, 0);
    const unknown = Array.from({ length: missing }, (_, index): Instruction => {
      return { address: hex(start - BigInt(missing - index)), text: '' };
    });
    return { instructions: [...unknown, ...all.slice(Math.max(first, 0))].slice(0, most) };
  }

  async #instructions(
    reference: string,
    offset: number | undefined,
    instructionOffset: number | undefined,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<Instruction[]> {
    const body = await this.client.request(
      'disassemble',
      {
        memoryReference: reference,
        ...(offset === undefined ? {} : { offset }),
        ...(instructionOffset === undefined ? {} : { instructionOffset }),
        instructionCount: count,
        resolveSymbols: true,
      },
      { signal },
    );
    return (body?.instructions ?? []).map((one): Instruction => {
      const path = one.location?.path;
      return {
        address: one.address,
        ...(one.instructionBytes ? { bytes: one.instructionBytes } : {}),
        text: one.instruction.trim().replace(/\s+/g, ' '),
        ...(one.symbol ? { symbol: one.symbol } : {}),
        ...(path ? { path } : {}),
        ...(one.line === undefined ? {} : { line: one.line }),
      };
    });
  }

  /** Where the function begins that holds the address; the address itself where none is known. */
  async #functionStart(address: bigint): Promise<bigint> {
    const said = await this.command(`disassemble --force --address ${hex(address)}`).catch(() => '');
    const start = /^\W*(0x[0-9a-fA-F]+) <\+0>/m.exec(said)?.[1];
    return start === undefined ? address : BigInt(start);
  }

  async modules({ start = 0, count }: Args<'modules'>, signal?: AbortSignal): Body<'modules'> {
    if (!this.client.can('modules')) return { modules: [], total: 0 };
    const body = await this.client.request('modules', {}, { signal });
    const all = body.modules.map((one): ModuleInfo => ({
      id: String(one.id),
      name: one.name,
      ...(one.path ? { path: one.path } : {}),
      ...(one.version ? { version: one.version } : {}),
      ...(one.symbolStatus ? { symbols: one.symbolStatus } : {}),
      ...(one.addressRange ? { range: one.addressRange } : {}),
    }));
    return { modules: all.slice(start, count ? start + count : undefined), total: all.length };
  }
}

function hex(address: bigint): string {
  return `0x${address.toString(16)}`;
}

function addressOf(reference: string, offset: number): bigint {
  try {
    return BigInt(reference) + BigInt(offset);
  } catch {
    throw new UserError(`"${reference}" is no address. Write it as 0x7ffe10.`);
  }
}

/** `0x7ffe10: 0x01 0x02 ...`, line by line. */
function parseBytes(text: string): Buffer {
  const bytes: number[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*0x[0-9a-fA-F]+:((?:\s+0x[0-9a-fA-F]{1,2})+)\s*$/.exec(line);
    if (match) bytes.push(...match[1]!.trim().split(/\s+/).map(Number));
  }
  return Buffer.from(bytes);
}
