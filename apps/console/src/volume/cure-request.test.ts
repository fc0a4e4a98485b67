import { expect, test } from '@jest/globals';
import { actionOf, type CureChange, type CureFacts, cureWay } from './cure-request';

const FACTS: CureFacts = {
  clusterId: 'c',
  volume: { id: 'v', nodeSelector: ['ssd', 'fast'], diskSelector: [] },
  nodes: [{ id: 'n', tags: ['ssd'] }],
  disks: [{ id: 'd', tags: [] }],
};
const NODE = { nodeId: 'n', nodeName: 'node-1' };
const DISK = { ...NODE, diskId: 'd', diskName: 'disk-1' };

test.each<[CureChange, string, string, object]>([
  [{ kind: 'uncordon-node', ...NODE }, 'PATCH', '/clusters/c/nodes/n', { cordoned: false }],
  [{ kind: 'enable-node-scheduling', ...NODE }, 'PATCH', '/clusters/c/nodes/n', { allowScheduling: true }],
  [{ kind: 'cancel-node-eviction', ...NODE }, 'PATCH', '/clusters/c/nodes/n', { evictionRequested: false }],
  [
    { kind: 'enable-disk-scheduling', ...DISK },
    'PATCH',
    '/clusters/c/nodes/n/disks/d',
    { allowScheduling: true },
  ],
  [
    { kind: 'cancel-disk-eviction', ...DISK },
    'PATCH',
    '/clusters/c/nodes/n/disks/d',
    { evictionRequested: false },
  ],
  [{ kind: 'tag-node', ...NODE, tags: ['fast'] }, 'PATCH', '/clusters/c/nodes/n', { tags: ['ssd', 'fast'] }],
  [{ kind: 'tag-disk', ...DISK, tags: ['fast'] }, 'PATCH', '/clusters/c/nodes/n/disks/d', { tags: ['fast'] }],
  [
    { kind: 'lower-reserve', ...DISK, fromBytes: 9, toBytes: 5 },
    'PATCH',
    '/clusters/c/nodes/n/disks/d',
    { storageReserved: 5 },
  ],
  [
    { kind: 'remove-selector-tags', selector: 'nodeSelector', tags: ['fast'] },
    'PATCH',
    '/clusters/c/volumes/v',
    { nodeSelector: ['ssd'] },
  ],
  [
    { kind: 'add-selector-tags', selector: 'diskSelector', tags: ['nvme'] },
    'PATCH',
    '/clusters/c/volumes/v',
    { diskSelector: ['nvme'] },
  ],
  [
    { kind: 'set-override', field: 'replicaSoftAntiAffinity', from: 'ignored', to: 'enabled' },
    'PATCH',
    '/clusters/c/volumes/v',
    { replicaSoftAntiAffinity: 'enabled' },
  ],
  [
    { kind: 'set-setting', setting: 'storage-minimal-available-percentage', from: 25, to: 10 },
    'PUT',
    '/clusters/c/settings/storage-minimal-available-percentage',
    { value: 10 },
  ],
])('%j is one request', (change, method, path, body) => {
  expect(cureWay(change, FACTS)).toEqual({ kind: 'request', request: { method, path, body } });
});

test.each<[CureChange, string | undefined]>([
  [{ kind: 'start-agent', ...NODE }, '/nodes/n'],
  [{ kind: 'end-node-maintenance', ...NODE }, '/nodes/n'],
  [{ kind: 'tag-node', nodeId: 'unknown', nodeName: 'node-9', tags: ['fast'] }, '/nodes/unknown'],
  [{ kind: 'free-space', ...DISK, freeBytes: 1, releaseBytes: 0 }, '/nodes/n/disks/d'],
  [{ kind: 'add-disk', ...NODE, diskType: 'filesystem', bytes: 1 }, '/nodes/n'],
  [{ kind: 'add-node', zone: null }, '/nodes'],
  [{ kind: 'wait-until', at: '2026-11-23T12:00:00Z', replicaId: 'r' }, undefined],
])('%j is done by hand, where that is', (change, href) => {
  const way = cureWay(change, FACTS);
  expect(way?.kind === 'open' ? way.href : undefined).toBe(href);
});

test.each([
  { path: '/clusters/c1/settings/default-replica-count', want: 'setting:write' },
  { path: '/clusters/c1/nodes/n1/disks/d1', want: 'node:write' },
  { path: '/clusters/c1/volumes/v1', want: 'volume:write' },
])('a cure at $path needs the right to $want', ({ path, want }) => {
  expect(actionOf({ method: 'PATCH', path })).toBe(want);
});
