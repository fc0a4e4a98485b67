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
    add: { disks: [{ node: 'c', size: 10 * GIB }] },
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
