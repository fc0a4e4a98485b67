import { expect, test } from '@jest/globals';
import { changedFields, copiesWords } from './dry-run-words';

test('fields that change are told in words, without times and counters', () => {
  const before = { allow_scheduling: true, zone: null, tags: [], labels: {}, version: 3, spec_at: null };
  const after = {
    allow_scheduling: false,
    zone: 'zone-b',
    tags: ['ssd', 'fast'],
    labels: { team: 'a' },
    version: 4,
    spec_at: '2026-11-23T12:00:00Z',
  };
  // The document gives the fields of any kind of object one type, which has none.
  expect(changedFields({ before, after } as never)).toEqual([
    { name: 'allow scheduling', before: 'yes', after: 'no' },
    { name: 'zone', before: 'none', after: 'zone-b' },
    { name: 'tags', before: 'none', after: 'ssd, fast' },
    { name: 'labels', before: 'none', after: 'team=a' },
  ]);
  expect(changedFields({ before, after: null } as never)).toEqual([]);
});

test('what the control plane notes for itself is not told', () => {
  const before = {
    state: 'attached',
    attachment: { nodeId: 'n1' },
    endpoint: '[hidden]',
    layer_task: null,
    conditions: [],
  };
  const after = {
    state: 'detaching',
    attachment: null,
    endpoint: null,
    layer_task: { kind: 'expand' },
    conditions: [{ type: 'Schedulable', status: 'False' }],
  };
  expect(changedFields({ before, after } as never)).toEqual([
    { name: 'state', before: 'attached', after: 'detaching' },
  ]);
});

test('fields of several parts and sizes are told as the pages tell them, and ids are not', () => {
  const before = {
    maintenance: null,
    drain: null,
    storage_reserved_bytes: 0,
    wanted_node_id: null,
    pulls: [],
  };
  const after = {
    maintenance: { until: '2026-11-28T16:50:13.397Z', reason: 'x' },
    drain: { policy: 'allow', requestedAt: '2026-11-28T15:50:13.781Z', wasCordoned: false },
    storage_reserved_bytes: 1_073_741_824,
    wanted_node_id: '01a222cd-d966-7b87-9f19-400b12c7acfe',
    pulls: [{ id: 'p' }],
  };
  expect(changedFields({ before, after } as never)).toEqual([
    { name: 'maintenance', before: 'none', after: 'until 2026-11-28 16:50 UTC' },
    { name: 'drain', before: 'none', after: 'by allow' },
    { name: 'storage reserved', before: '0 B', after: '1 GiB' },
  ]);
});

test.each([
  [{ copyCount: 1, bytesCopied: 0, bytesRemoved: 0 }, '1 copy is concerned.'],
  [{ copyCount: 2, bytesCopied: 1024, bytesRemoved: 0 }, '2 copies are concerned: 1 KiB copied.'],
  [{ copyCount: 3, bytesCopied: 0, bytesRemoved: 2048 }, '3 copies are concerned: 2 KiB removed.'],
])('what becomes of copies: %j', (counts, want) => {
  expect(copiesWords(counts)).toBe(want);
});
