/** PNG files with the same pixels in fewer bytes: browsers compress screenshots fast, not well. */
import zlib from 'node:zlib';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum around a chunk's data. */
const FRAME_BYTES = 12;
const DATA = 'IDAT';

type Chunk = { readonly type: string; readonly data: Buffer };

/** The same picture, its pixels deflated as well as zlib can. */
export function smallerPng(png: Buffer): Buffer {
  const chunks = chunksOf(png);
  const pixels = zlib.inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === DATA).map(({ data }) => data)),
  );
  const data = zlib.deflateSync(pixels, { level: 9, memLevel: 9 });
  const firstData = chunks.findIndex(({ type }) => type === DATA);
  const kept = chunks.flatMap((chunk, index) => {
    if (index === firstData) return [{ type: DATA, data }];
    return chunk.type === DATA ? [] : [chunk];
  });
  const smaller = Buffer.concat([png.subarray(0, SIGNATURE_BYTES), ...kept.map(bytesOf)]);
  return smaller.length < png.length ? smaller : png;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = SIGNATURE_BYTES;
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += FRAME_BYTES + length;
  }
  return chunks;
}

function bytesOf({ type, data }: Chunk): Buffer {
  const bytes = Buffer.alloc(FRAME_BYTES + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** As PNG has it; Node has none before version 22. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
