/**
 * Frames of a backup file: a kind, a length and that many bytes, one behind the other, compressed as a whole.
 *
 * The last frame is the manifest with the sums of all others. So a file is written in one pass, and a truncated one has no manifest.
 */
import { BackupError } from './backup-error.js';

/** `H`: origin of the backup. `T`: a table begins. `D`: bytes of that table. `E`: the manifest, and the end. */
export type FrameKind = 'H' | 'T' | 'D' | 'E';
export type Frame = { readonly kind: FrameKind; readonly payload: Buffer };

const HEAD_BYTES = 5;
/** Longest frame. Postgres hands rows over in pieces of 64 KiB, and no list of tables comes near it. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const KINDS: ReadonlySet<string> = new Set<FrameKind>(['H', 'T', 'D', 'E']);

export function frame(kind: FrameKind, payload: Buffer): Buffer {
  if (payload.length > FRAME_BYTES_MAX) throw new BackupError('a row is too long for a backup');
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(kind, 'latin1');
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** @throws BackupError for bytes that are no frames, or end within one */
export async function* readFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      if (rest.length < HEAD_BYTES) break;
      const kind = rest.toString('latin1', 0, 1);
      const lengthBytes = rest.readUInt32BE(1);
      if (!isKind(kind) || lengthBytes > FRAME_BYTES_MAX) throw new BackupError('the file is no backup');
      if (rest.length < HEAD_BYTES + lengthBytes) break;
      yield { kind, payload: rest.subarray(HEAD_BYTES, HEAD_BYTES + lengthBytes) };
      rest = rest.subarray(HEAD_BYTES + lengthBytes);
    }
  }
  if (rest.length > 0) throw new BackupError('the file ends within a table: it was cut short');
}

function isKind(text: string): text is FrameKind {
  return KINDS.has(text);
}
