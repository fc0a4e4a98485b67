import { expect, test } from '@jest/globals';
import { EXIT } from '../exit-codes.js';
import type { Volume } from '../types.js';
import { findReplica } from './volume-move.js';

const NODES = [
  { id: 'n1', name: 'node-1' },
  { id: 'n2', name: 'node-2' },
  { id: 'n3', name: 'node-3' },
];
// Of a replica only id and node are read.
const REPLICAS = [
  { id: '0000-aaaaaaaa', nodeId: 'n1' },
  { id: '0000-bbbbbbbb', nodeId: 'n2' },
  { id: '0000-cccccccc', nodeId: 'n2' },
] as Volume['replicas'];
const found = (given: string) => findReplica({ name: 'pg-data', replicas: REPLICAS }, NODES, given);

test.each([
  ['its id', '0000-aaaaaaaa', '0000-aaaaaaaa'],
  ['the end of its id', 'bbbbbbbb', '0000-bbbbbbbb'],
  ['the name of its node', 'node-1', '0000-aaaaaaaa'],
])('a copy is named by %s', (_, given, id) => {
  expect(found(given)).toBe(id);
});

test.each([
  ['a node with several copies', 'node-2', EXIT.usage],
  ['a node without one', 'node-3', EXIT.notFound],
  ['too short an end of an id', 'aaaa', EXIT.notFound],
])('%s names none', (_, given, exitCode) => {
  expect(() => found(given)).toThrow(expect.objectContaining({ exitCode }));
});
