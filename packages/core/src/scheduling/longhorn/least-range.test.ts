import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { describe, expect, test } from '@jest/globals';
import { acceptableByLeastRange } from './least-range.js';

/** `node-disk` to usable bytes. */
const acceptable = (usable: Record<string, number>, sizeBytes: number) =>
  acceptableByLeastRange(
    Object.entries(usable).map(([name, bytes]) => ({
      id: asId<DiskId>(name),
      nodeId: asId<NodeId>(name.split('-')[0] ?? name),
      storageMaximumBytes: 1000,
      storageAvailableBytes: bytes,
      storageReservedBytes: 0,
      storageScheduledBytes: 0,
    })),
    sizeBytes,
  ).map(({ diskId }) => diskId);

describe('what Longhorn may choose', () => {
  test.each([
    { name: 'nothing without candidates', usable: {}, size: 10, want: [] },
    { name: 'a single one, however full', usable: { 'a-1': 0 }, size: 10, want: ['a-1'] },
    { name: 'the fuller node', usable: { 'a-1': 100, 'b-1': 50 }, size: 10, want: ['a-1'] },
    {
      name: 'any that leaves the same range',
      usable: { 'b-1': 100, 'a-1': 100 },
      size: 10,
      want: ['a-1', 'b-1'],
    },
    { name: 'the node that it fills exactly', usable: { 'a-1': 5, 'b-1': 10 }, size: 10, want: ['b-1'] },
    { name: 'the best while one byte is left', usable: { 'a-1': 1, 'b-1': 10 }, size: 10, want: ['b-1'] },
    {
      name: 'any when it takes all there is',
      usable: { 'a-1': 10, 'b-1': 0 },
      size: 10,
      want: ['a-1', 'b-1'],
    },
    {
      name: 'any when no node holds the size',
      usable: { 'a-1': 9, 'b-1': 8 },
      size: 10,
      want: ['a-1', 'b-1'],
    },
    {
      name: 'any when no disk of the best node holds the size',
      usable: { 'a-1': 9, 'a-2': 9, 'b-1': 1 },
      size: 10,
      want: ['a-1', 'a-2', 'b-1'],
    },
  ])('$name', ({ usable, size, want }) => {
    expect(acceptable(usable, size)).toEqual(want);
  });
});
