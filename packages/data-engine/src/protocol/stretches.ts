/** Stretches: a copy lists recent changes in clusters of its volume (64 KiB), with a bit for each changed block. */
import { BLOCK_BYTES, CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';

const BLOCKS_PER_CLUSTER = CLUSTER_BYTES / BLOCK_BYTES;

/** The listed changes as byte ranges: for each stretch one range, from its first to its last changed block. */
export function rangesOfStretches(
  list: readonly (readonly [number, number])[],
): { start: number; end: number }[] {
  return list.map(([stretch, blocks]) => {
    const start = stretch * CLUSTER_BYTES;
    const last = 31 - Math.clz32(blocks & ((1 << BLOCKS_PER_CLUSTER) - 1));
    const first = 31 - Math.clz32(blocks & -blocks);
    return { start: start + first * BLOCK_BYTES, end: start + (last + 1) * BLOCK_BYTES };
  });
}

const ENTRY_BYTES = 6;
/** Entries in one answer: 64 KiB as text. */
const ENTRIES_PER_ANSWER = 8192;

export function encodeStretches(
  list: readonly (readonly [number, number])[] | undefined,
  from: number,
): { stretches: string | null; next: number | null } {
  if (list === undefined) return { stretches: null, next: null };
  const page = list.slice(from, from + ENTRIES_PER_ANSWER);
  const bytes = Buffer.alloc(page.length * ENTRY_BYTES);
  for (const [index, [stretch, blocks]] of page.entries()) {
    bytes.writeUInt32LE(stretch, index * ENTRY_BYTES);
    bytes.writeUInt16LE(blocks & 0xffff, index * ENTRY_BYTES + 4);
  }
  const end = from + page.length;
  return { stretches: bytes.toString('base64'), next: end < list.length ? end : null };
}

export function decodeStretches(text: string): [stretch: number, blocks: number][] {
  const bytes = Buffer.from(text, 'base64');
  const list: [number, number][] = [];
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    list.push([bytes.readUInt32LE(at), bytes.readUInt16LE(at + 4)]);
  }
  return list;
}
