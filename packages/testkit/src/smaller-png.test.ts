import zlib from 'node:zlib';
import { expect, test } from '@jest/globals';
import { smallerPng } from './smaller-png.js';

/** A black picture of 64 by 64 pixels in grey, as a fast encoder writes it: two chunks of pixels, not deflated at all. */
function wastefulPng(): Buffer {
  const size = 64;
  const header = Buffer.from([0, 0, 0, size, 0, 0, 0, size, 8, 0, 0, 0, 0]);
  const pixels = zlib.deflateSync(Buffer.alloc(size * (size + 1)), { level: 0 });
  const half = pixels.length / 2;
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header, 'f0c8c8f0'),
    chunk('IDAT', pixels.subarray(0, half)),
    chunk('IDAT', pixels.subarray(half)),
    chunk('IEND', Buffer.alloc(0), 'ae426082'),
  ]);
}

/** The checksum of pixels is not read: they are written anew. */
function chunk(type: string, data: Buffer, checksum = '00000000'): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.from(checksum, 'hex')]);
}

test('the same pixels in fewer bytes, in one chunk with its checksum', () => {
  const png = wastefulPng();
  const smaller = smallerPng(png);
  expect(smaller.length).toBeLessThan(png.length / 10);
  const at = smaller.indexOf('IDAT');
  const length = smaller.readUInt32BE(at - 4);
  expect(zlib.inflateSync(smaller.subarray(at + 4, at + 4 + length))).toEqual(Buffer.alloc(64 * 65));
  expect(smaller.subarray(-12).toString('hex')).toBe('0000000049454e44ae426082');
  expect(smaller.indexOf('IDAT', at + 4)).toBe(-1);
});

test('what can not be made smaller stays as it is', () => {
  const small = smallerPng(wastefulPng());
  expect(smallerPng(small)).toBe(small);
});
