/** Background tasks that begin keep to the limit of every node. */
import { expect, test } from '@jest/globals';
import { asId, type NodeId, type VolumeId } from '../model/ids.js';
import { checkTaskLimits } from './task-limits.js';

const on = (volume: string, ...nodes: string[]) => ({
  volumeId: asId<VolumeId>(volume),
  nodeIds: nodes.map((node) => asId<NodeId>(node)),
});
const RUNNING = [on('a', 'n1', 'n2'), on('b', 'n2', 'n3')];
const FOUND = ['a task of volume b began over the limit of 1 on a node'];

test.each<{ name: string; begun: string[]; limit: number; want: string[] }>([
  { name: 'a second task on a node', begun: ['b'], limit: 1, want: FOUND },
  { name: 'as many tasks as the limit', begun: ['b'], limit: 2, want: [] },
  { name: 'tasks without any limit', begun: ['b'], limit: 0, want: [] },
  { name: 'tasks from before the limit was lowered', begun: [], limit: 1, want: [] },
])('$name', ({ begun, limit, want }) => {
  expect(checkTaskLimits(RUNNING, new Set(begun.map((id) => asId<VolumeId>(id))), limit)).toEqual(want);
});
