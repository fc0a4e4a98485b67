/**
 * Screenshots as smaller PNG files. Browsers write them fast, with three or four bytes for each pixel; a page has few colours beside the
 * edges of its letters, so a palette of 256 shows it as well in a third of the bytes.
 */
import zlib from 'node:zlib';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum around a chunk's data. */
const FRAME_BYTES = 12;
const PALETTE_MAX = 256;
/** Colours of the palette that are included for being unlike all others: a green dot has few pixels, and would turn grey. */
const UNLIKE = 64;
/** Bytes of a pixel by the PNG's colour type: without and with transparency, which a screenshot does not have. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

type Chunk = { readonly type: string; readonly data: Buffer };
type Picture = { readonly width: number; readonly height: number; readonly colours: Uint32Array };

/** @param png with eight bits for each of red, green and blue; any other is given back as it is */
export function smallerPng(png: Buffer): Buffer {
  const picture = readPicture(chunksOf(png));
  if (picture === undefined) return png;
  const smaller = writePicture(picture);
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

function readPicture(chunks: readonly Chunk[]): Picture | undefined {
  const header = chunks.find(({ type }) => type === 'IHDR')?.data;
  const pixelBytes = PIXEL_BYTES[header?.[9] ?? 0];
  if (header === undefined || pixelBytes === undefined || header[8] !== 8) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const data = chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data);
  const bytes = unfiltered(zlib.inflateSync(Buffer.concat(data)), width * pixelBytes, pixelBytes);
  const colours = new Uint32Array(width * height);
  for (let pixel = 0; pixel < colours.length; pixel += 1) {
    colours[pixel] = bytes.readUIntBE(pixel * pixelBytes, 3);
  }
  return { width, height, colours };
}

/** The pixels' bytes, of lines that encode their difference to the pixel on the left and above (PNG, section 9). */
function unfiltered(lines: Buffer, lineBytes: number, pixelBytes: number): Buffer {
  const height = lines.length / (lineBytes + 1);
  const bytes = Buffer.alloc(lineBytes * height);
  for (let y = 0; y < height; y += 1) {
    const filter = lines[y * (lineBytes + 1)] ?? 0;
    for (let x = 0; x < lineBytes; x += 1) {
      const at = y * lineBytes + x;
      const left = x < pixelBytes ? 0 : (bytes[at - pixelBytes] ?? 0);
      const up = y === 0 ? 0 : (bytes[at - lineBytes] ?? 0);
      const upLeft = x < pixelBytes || y === 0 ? 0 : (bytes[at - lineBytes - pixelBytes] ?? 0);
      const base = predicted(filter, left, up, upLeft);
      bytes[at] = ((lines[y * (lineBytes + 1) + 1 + x] ?? 0) + base) & 0xff;
    }
  }
  return bytes;
}

function predicted(filter: number, left: number, up: number, upLeft: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - upLeft;
  const [toLeft, toUp, toUpLeft] = [left, up, upLeft].map((one) => Math.abs(guess - one));
  if ((toLeft ?? 0) <= (toUp ?? 0) && (toLeft ?? 0) <= (toUpLeft ?? 0)) return left;
  return (toUp ?? 0) <= (toUpLeft ?? 0) ? up : upLeft;
}

function writePicture({ width, height, colours }: Picture): Buffer {
  const palette = paletteOf(colours);
  const places = new Map(palette.map((colour, index) => [colour, index]));
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = colours[y * width + x] ?? 0;
      const index = places.get(colour) ?? nearest(palette, colour);
      places.set(colour, index);
      lines[y * (width + 1) + 1 + x] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 3;
  const table = Buffer.alloc(3 * palette.length);
  palette.forEach((colour, index) => {
    table.writeUIntBE(colour, 3 * index, 3);
  });
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    ...[
      { type: 'IHDR', data: header },
      { type: 'PLTE', data: table },
      { type: 'IDAT', data: zlib.deflateSync(lines, { level: 9, memLevel: 9 }) },
      { type: 'IEND', data: Buffer.alloc(0) },
    ].map(bytesOf),
  ]);
}

/** The commonest colours, then of the others those that are farthest from all before. */
function paletteOf(colours: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const sorted = [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || a - b)
    .map(([colour]) => colour);
  if (sorted.length <= PALETTE_MAX) return sorted;
  const palette = sorted.slice(0, PALETTE_MAX - UNLIKE);
  let others = sorted.slice(palette.length).map((colour) => ({
    colour,
    distance: Math.min(...palette.map((one) => distanceOf(one, colour))),
  }));
  while (palette.length < PALETTE_MAX) {
    const farthest = others.reduce((best, one) => (one.distance > best.distance ? one : best)).colour;
    palette.push(farthest);
    others = others.map(({ colour, distance }) => ({
      colour,
      distance: Math.min(distance, distanceOf(farthest, colour)),
    }));
  }
  return palette;
}

/** Square of how far apart two colours are. */
function distanceOf(a: number, b: number): number {
  return [16, 8, 0].reduce((sum, shift) => {
    const difference = ((a >> shift) & 0xff) - ((b >> shift) & 0xff);
    return sum + difference * difference;
  }, 0);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  palette.forEach((one, index) => {
    const distance = distanceOf(one, colour);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
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
