import { expect, test } from '@jest/globals';
import {
  type LayerMetadata,
  newHead,
  withMerged,
  withoutFreeze,
  withRemoved,
  withRevert,
  withSnapshot,
} from './layer-tree.js';

const SIZE_BYTES = 2 ** 20;
const CHECKSUM = {
  algorithm: 'blake3' as const,
  value: 'what was hashed',
  heldBytes: 0,
  changeTime: '0-0',
  hashedAt: '2026-01-01T00:00:00Z',
};

/** A chain of frozen layers, all hashed, and a head. */
function chainOf(...ids: string[]): LayerMetadata[] {
  let layers: LayerMetadata[] = [newHead(null, SIZE_BYTES)];
  for (const id of ids) {
    const ask = { id, name: id, origin: 'user' as const, createdAt: '', drop: null };
    layers = withSnapshot(layers, ask, SIZE_BYTES);
  }
  return layers.map((layer, index) => (index < ids.length ? { ...layer, checksum: CHECKSUM } : layer));
}

// On a block disk the change time is a small counter, which may happen to be equal for the other file.
test('a layer that took another one in is in its file, and has no checksum until it is hashed again', () => {
  const before = chainOf('a', 'b', 'c');
  const after = withMerged(before, 'b');
  expect(after.map(({ id, checksum }) => [id, checksum?.value])).toEqual([
    ['a', 'what was hashed'],
    ['c', undefined],
    [before.at(-1)?.id, undefined],
  ]);
  expect(after[1]).toMatchObject({ parentId: 'a', file: before[1]?.file });
});

test('a snapshot that was deleted is not reverted to, though its layer is still there', () => {
  const layers = chainOf('a', 'b');
  expect(withRevert(layers, 'a', 'next').at(-1)).toMatchObject({ id: 'next', parentId: 'a' });
  expect(() => withRevert(withRemoved(layers, 'a'), 'a', 'next')).toThrow(
    expect.objectContaining({ code: 'snapshot.not_found' }),
  );
});

test('a freeze is not rolled back where another branch stands on the layer: its content would change', () => {
  const layers = chainOf('a');
  expect(withoutFreeze(layers, 'a')).toMatchObject([{ parentId: null, file: layers[0]?.file }]);
  const branched = withRevert(chainOf('a', 'b'), 'a', 'next');
  expect(() => withoutFreeze(branched, 'a')).toThrow(expect.objectContaining({ code: 'snapshot.in_use' }));
});
