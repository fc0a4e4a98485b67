/**
 * Compression of blobs: zstd frames (RFC 8878), level 1. Node has zstd from 22.15 on; until then a named library brings it as a prebuilt
 * binary from npm. Both write frames that each of them reads.
 */
import { createRequire } from 'node:module';
import zlib from 'node:zlib';

const LEVEL = 1;
const MAGIC = 0xfd2fb528;

type Zstd = { compress(bytes: Buffer): Buffer; decompress(bytes: Buffer): Buffer };

let loaded: Zstd | undefined;

function zstd(): Zstd {
  loaded ??= ofNode() ?? ofLibrary();
  return loaded;
}

type NodeZstd = {
  zstdCompressSync?: (bytes: Buffer, options: { params: Record<number, number> }) => Buffer;
  zstdDecompressSync?: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;
  constants: { ZSTD_c_compressionLevel?: number };
};

function ofNode(): Zstd | undefined {
  // The cast: types of Node 20 do not know what later ones have.
  const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as NodeZstd;
  const { ZSTD_c_compressionLevel: level } = constants;
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined || level === undefined)
    return undefined;
  return {
    compress: (bytes) => zstdCompressSync(bytes, { params: { [level]: LEVEL } }),
    decompress: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: 2 ** 27 }),
  };
}

function ofLibrary(): Zstd {
  // Loaded at first use: a process that reads no backup does without the native module.
  const require = createRequire(import.meta.url);
  const library = require('@toondepauw/node-zstd') as {
    Encoder: new (level: number) => { encodeSync(bytes: Buffer): Buffer };
    Decoder: new () => { decodeSync(bytes: Buffer): Buffer };
  };
  const encoder = new library.Encoder(LEVEL);
  const decoder = new library.Decoder();
  return { compress: (bytes) => encoder.encodeSync(bytes), decompress: (bytes) => decoder.decodeSync(bytes) };
}

export const compress = (bytes: Buffer): Buffer => zstd().compress(bytes);

/**
 * Bytes of a frame.
 *
 * @throws Error where it is no frame, or its content has another size: the size is checked first, since a frame of a few bytes may unpack to gigabytes
 */
export function decompress(frame: Buffer, rawBytes: number): Buffer {
  const claimed = contentBytes(frame);
  if (claimed !== undefined && claimed !== rawBytes)
    throw new Error(`a frame of ${claimed} bytes, not ${rawBytes}`);
  const bytes = zstd().decompress(frame);
  if (bytes.length !== rawBytes) throw new Error(`a frame came to ${bytes.length} bytes, not ${rawBytes}`);
  return bytes;
}

/** The size that a frame's header names; `undefined`: it names none. */
function contentBytes(frame: Buffer): number | undefined {
  if (frame.length < 6 || frame.readUInt32LE(0) !== MAGIC) throw new Error('no zstd frame');
  const descriptor = frame.readUInt8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0) return isSingleSegment ? frame.readUInt8(at) : undefined;
  if (sizeFlag === 1) return frame.readUInt16LE(at) + 256;
  return sizeFlag === 2 ? frame.readUInt32LE(at) : Number(frame.readBigUInt64LE(at));
}
