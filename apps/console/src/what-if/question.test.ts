import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { diskGroupsOf, fieldValue, groupsOf, parametersOf, questionOf } from './question';

test('what a form asks is asked again from its address', () => {
  const form = new FormData();
  const fields = {
    count: '2',
    sizeGib: '1.5',
    replicas: '2',
    diskGib: '10',
    policy: 'always-allow',
    limit: '2',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const name of ['a', 'b']) form.append('drain', name);
  form.append('zone', 'z');
  form.append('diskNode', 'c');
  const address = new URLSearchParams(parametersOf(form).toString());
  expect(questionOf(address)).toEqual({
    volumes: [{ count: 2, size: 1.5 * GIB, numberOfReplicas: 2 }],
    lose: { zones: ['z'], nodes: [], disks: [] },
    add: { nodes: [], disks: [{ node: 'c', size: 10 * GIB, count: 1, type: 'filesystem' }] },
    drain: [
      { node: 'a', policy: 'always-allow' },
      { node: 'b', policy: 'always-allow' },
    ],
    settings: { 'concurrent-replica-rebuild-per-node-limit': 2 },
    howManyMore: false,
  });
});

test('an address without parameters asks nothing; one that names no volumes places none', () => {
  expect(questionOf(new URLSearchParams())).toBeUndefined();
  expect(questionOf(new URLSearchParams('drain=a'))).toMatchObject({ volumes: [], settings: {} });
  expect(fieldValue(new URLSearchParams(), 'policy')).toBe('block-for-eviction');
  expect(fieldValue(new URLSearchParams('policy=always-allow'), 'policy')).toBe('always-allow');
});

test('fields that were left empty are no part of the address', () => {
  const form = new FormData();
  form.append('limit', '');
  form.append('node', 'a');
  expect(parametersOf(form).toString()).toBe('node=a');
});

test('tags, kinds of disks, new nodes and settings are asked as the command line asks them', () => {
  const address = new URLSearchParams({
    count: '1',
    nodeTags: 'ssd fast',
    diskTags: 'nvme',
    diskNode: 'a',
    diskCount: '2',
    diskType: 'block',
    newDiskTags: 'x,y',
    newNodes: '3',
    newNodeZone: 'zone-d',
    newNodeDisks: '2',
    newNodeGib: '50',
    newNodeTags: 'big',
    limit: '2',
    settings:
      'replica-soft-anti-affinity=true storage-over-provisioning-percentage=200 node-drain-policy=always-allow',
  });
  expect(questionOf(address)).toMatchObject({
    volumes: [{ nodeSelector: ['ssd', 'fast'], diskSelector: ['nvme'] }],
    add: {
      nodes: [
        {
          name: 'new-node',
          count: 3,
          zone: 'zone-d',
          tags: ['big'],
          disks: [{ size: 50 * GIB }, { size: 50 * GIB }],
        },
      ],
      disks: [{ node: 'a', size: 100 * GIB, count: 2, type: 'block', tags: ['x', 'y'] }],
    },
    settings: {
      'concurrent-replica-rebuild-per-node-limit': 2,
      'replica-soft-anti-affinity': true,
      'storage-over-provisioning-percentage': 200,
      'node-drain-policy': 'always-allow',
    },
  });
});

test('further fields that were left as they were are no part of the address', () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({
    newNodes: '0',
    diskCount: '1',
    diskType: 'filesystem',
    newNodeGib: '7',
  }))
    form.append(name, value);
  expect(parametersOf(form).toString()).toBe('newNodeGib=7');
});

test('each drained node may have a policy of its own; the others have that of all', () => {
  const drainOf = (query: string) => questionOf(new URLSearchParams(query))?.drain;
  expect(drainOf('drain=a&drain=b&drain=c&policy=always-allow&policy.b=block-for-eviction')).toEqual([
    { node: 'a', policy: 'always-allow' },
    { node: 'b', policy: 'block-for-eviction' },
    { node: 'c', policy: 'always-allow' },
  ]);
  expect(drainOf('drain=a&policy.b=always-allow')).toEqual([{ node: 'a', policy: 'block-for-eviction' }]);
  expect(drainOf('drain=a&drain=2&policy=as-set&policy.2=always-allow')).toEqual([
    { node: 'a' },
    { node: '2', policy: 'always-allow' },
  ]);
});

test('several groups of new nodes, each with its disks, come back from their address', () => {
  const form = new FormData();
  for (const [name, value] of Object.entries({
    newNodes: '2',
    newNodeName: 'new-node',
    newNodeZone: 'zone-d',
    newNodeDisks: '1',
    newNodeGib: '50',
    'newNodes.2': '1',
    'newNodeName.2': 'new-group-2',
    'newNodeZone.2': '',
    'newNodeDisks.2': '1',
    'newNodeGib.2': '100',
    'newNodes.4': '3',
    'newNodeName.4': 'big',
    'newNodeZone.4': 'zone-e',
    'newNodeTags.4': 'ssd',
    'newNodeDisks.4': '2',
    'newNodeGib.4': '2000',
  }))
    form.append(name, value);
  const address = new URLSearchParams(parametersOf(form).toString());
  // A group that was left as it is offered is still there.
  expect(address.get('newNodes.2')).toBe('1');
  expect(address.has('newNodeName.2')).toBe(false);
  expect(groupsOf(address)).toEqual([1, 2, 4]);
  expect(questionOf(address)?.add?.nodes).toEqual([
    { name: 'new-node', count: 2, zone: 'zone-d', disks: [{ size: 50 * GIB }] },
    { name: 'new-group-2', count: 1, disks: [{ size: 100 * GIB }] },
    {
      name: 'big',
      count: 3,
      zone: 'zone-e',
      tags: ['ssd'],
      disks: [{ size: 2000 * GIB }, { size: 2000 * GIB }],
    },
  ]);
});

test('a group that an address does not count is not asked, the first included', () => {
  const address = new URLSearchParams('newNodes.3=1&newNodeZone.2=z');
  expect(questionOf(address)?.add?.nodes).toMatchObject([{ name: 'new-group-3', count: 1 }]);
});

test.each([
  ['node=a', { lose: { nodes: ['a'] }, drain: [], add: { nodes: [] } }],
  ['disk=a/disk-1', { lose: { disks: ['a/disk-1'] }, drain: [], add: { nodes: [] } }],
  ['drain=a', { drain: [{ node: 'a', policy: 'block-for-eviction' }], add: { nodes: [] } }],
  ['newNodes=2', { add: { nodes: [{ name: 'new-node', count: 2, disks: [{ size: 100 * GIB }] }] } }],
])('an address as it was before there were groups asks the same: %s', (query, question) => {
  expect(questionOf(new URLSearchParams(query))).toMatchObject(question);
});

test('disks of several kinds are added, each to the nodes that it names', () => {
  const address = new URLSearchParams({
    diskNode: 'a',
    'diskNode.3': 'b, c',
    'diskGib.3': '5',
    'diskType.3': 'block',
    'newDiskTags.3': 'fast',
  });
  const further = { size: 5 * GIB, count: 1, type: 'block', tags: ['fast'] };
  expect(questionOf(address)?.add?.disks).toEqual([
    { node: 'a', size: 100 * GIB, count: 1, type: 'filesystem' },
    { node: 'b', ...further },
    { node: 'c', ...further },
  ]);
  expect(diskGroupsOf(address)).toEqual([3]);
});
