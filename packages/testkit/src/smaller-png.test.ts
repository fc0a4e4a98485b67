import zlib from 'node:zlib';
import { expect, test } from '@jest/globals';
import { smallerPng } from './smaller-png.js';

const SIZE = 32;
/** Bytes of a line before its pixels: which filter it has. */
const FILTERS = [0, 1, 2, 3, 4];

type Colour = readonly [number, number, number];

/** A picture in colour, as a fast encoder writes it: hardly deflated. Each line's bytes are differences of its own filter, all 0. */
function pngOf(first: Colour): Buffer {
  const lines = Array.from({ length: SIZE }, (_, y) => {
    const line = Buffer.alloc(1 + 3 * SIZE);
    // Only the first pixel differs from what its filter foretells: all get its colour.
    line[0] = y === 0 ? 1 : 2;
    if (y === 0) line.set(first, 1);
    return line;
  });
  const header = Buffer.from([0, 0, 0, SIZE, 0, 0, 0, SIZE, 8, 2, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('IDAT', zlib.deflateSync(Buffer.concat(lines), { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Its checksum is not read: the picture is written anew. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
}

function dataOf(png: Buffer, type: string): Buffer {
  const at = png.indexOf(type);
  return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4));
}

test('the same pixels by a palette, in fewer bytes and with checksums', () => {
  const png = pngOf([10, 20, 30]);
  const smaller = smallerPng(png);
  expect(smaller.length).toBeLessThan(png.length / 10);
  expect([...dataOf(smaller, 'PLTE')]).toEqual([10, 20, 30]);
  expect(zlib.inflateSync(dataOf(smaller, 'IDAT'))).toEqual(Buffer.alloc(SIZE * (SIZE + 1)));
  expect(smaller.subarray(-12).toString('hex')).toBe('0000000049454e44ae426082');
});

test.each(FILTERS)('lines of filter %i are read', (filter) => {
  const line = Buffer.alloc(1 + 6);
  line[0] = filter;
  line.set([8, 0, 0], 1);
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const png = Buffer.concat([
    Buffer.alloc(8),
    chunk('IHDR', header),
    chunk('IDAT', zlib.deflateSync(Buffer.concat([line, line]), { level: 0 })),
    // So much is left out that the result is the smaller one.
    chunk('tEXt', Buffer.alloc(500)),
  ]);
  const palette = dataOf(smallerPng(png), 'PLTE');
  const colours = [...zlib.inflateSync(dataOf(smallerPng(png), 'IDAT'))]
    .filter((_, at) => at % 3 !== 0)
    .map((index) => palette[3 * index]);
  expect(colours).toEqual(
    { 0: [8, 0, 8, 0], 1: [8, 8, 8, 8], 2: [8, 0, 16, 0], 3: [8, 4, 12, 8], 4: [8, 8, 16, 16] }[filter],
  );
});

test('one green pixel stays green among more greys than a palette holds', () => {
  const green = [0, 200, 0];
  const lines = Array.from({ length: SIZE }, (_, y) => [
    0,
    ...Array.from({ length: SIZE }, (_, x) => greyOf(Math.floor((y * SIZE + x) / 2))).flat(),
  ]);
  lines[SIZE - 1]?.splice(1, 3, ...green);
  const data = chunk('IDAT', zlib.deflateSync(Buffer.from(lines.flat()), { level: 0 }));
  const header = Buffer.from([0, 0, 0, SIZE, 0, 0, 0, SIZE, 8, 2, 0, 0, 0]);
  const smaller = smallerPng(Buffer.concat([Buffer.alloc(8), chunk('IHDR', header), data]));
  const palette = dataOf(smaller, 'PLTE');
  const index = zlib.inflateSync(dataOf(smaller, 'IDAT'))[(SIZE - 1) * (SIZE + 1) + 1] ?? 0;
  expect(palette.length).toBe(3 * 256);
  expect([...palette.subarray(3 * index, 3 * index + 3)]).toEqual(green);
});

/** One of 512 colours that are nearly grey. */
function greyOf(number: number): Colour {
  const value = 20 + 3 * (number % 64);
  return [value, value, value + Math.floor(number / 64)];
}

test('a picture of another kind stays as it is', () => {
  const grey = pngOf([1, 2, 3]);
  grey[8 + 8 + 9] = 0;
  expect(smallerPng(grey)).toBe(grey);
});
