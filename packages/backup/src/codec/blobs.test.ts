import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { BLOB_KIND, CODEC } from '../model/format.js';
import { idOf, isZero, openBlob, packed, sealBlob } from './blobs.js';
import { compress, decompress } from './zstd.js';

const runKey = randomBytes(32);
const idKey = randomBytes(32);
const content = Buffer.alloc(70_000, 'content of a block ');
const small = packed(content);
const facts = {
  id: idOf(idKey, content),
  kind: BLOB_KIND.block,
  codec: small.codec,
  rawBytes: content.length,
};
const sealed = sealBlob(runKey, 1, facts, small.bytes);

test('a blob opens as what was sealed', () => {
  expect(openBlob(runKey, idKey, facts, Buffer.from(sealed)).equals(content)).toBe(true);
});

test.each([
  { name: 'with a changed bit', at: sealed.length - 1 },
  { name: 'with a changed nonce', at: 11 },
  { name: 'with changed content', at: 40 },
])('a blob $name does not open', ({ at }) => {
  const changed = Buffer.from(sealed);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  expect(() => openBlob(runKey, idKey, facts, changed)).toThrow(
    expect.objectContaining({ code: 'backup.damaged' }),
  );
});

test.each([
  { name: 'another id', change: { id: randomBytes(32) } },
  { name: 'another kind', change: { kind: BLOB_KIND.segment } },
  { name: 'another codec', change: { codec: CODEC.none } },
  { name: 'another length', change: { rawBytes: content.length + 1 } },
])('a blob that an index gives $name does not open', ({ change }) => {
  const opening = () => openBlob(runKey, idKey, { ...facts, ...change }, Buffer.from(sealed));
  expect(opening).toThrow(expect.objectContaining({ code: 'backup.damaged' }));
});

test('what gains nothing is stored as it is', () => {
  expect(packed(randomBytes(4096)).codec).toBe(CODEC.none);
  expect(small.codec).toBe(CODEC.zstd);
});

test('a frame that claims another size is refused before it is unpacked', () => {
  const frame = compress(Buffer.alloc(1024 * 1024));
  expect(frame.length).toBeLessThan(200);
  expect(() => decompress(frame, 1024)).toThrow(/1048576 bytes/);
  expect(() => decompress(Buffer.from('no frame at all'), 1024)).toThrow(/no zstd frame/);
});

test('zeros are told from nearly zeros, at each end', () => {
  const bytes = Buffer.alloc(200_000);
  expect(isZero(bytes)).toBe(true);
  for (const at of [0, 65_536, bytes.length - 1]) {
    bytes.fill(0).writeUInt8(1, at);
    expect(isZero(bytes)).toBe(false);
  }
});
