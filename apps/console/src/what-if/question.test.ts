import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { fieldValue, parametersOf, questionOf } from './question';

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
