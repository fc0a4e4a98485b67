import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type NodeId } from '../model/ids.js';
import type { DrainPolicy } from '../model/node-drain.js';
import { decideDrain, decideDrainCancellation } from './decide-drain.js';
import { decideDiskEviction, decideNodeEviction } from './decide-eviction.js';

const EMPTY: DrainPolicy = 'block-for-eviction';
const drained = { drain: { policy: EMPTY, requestedAt: NOON, wasCordoned: false } };
const BOOKED = { 'a-disk': { storageScheduledBytes: 1 } };

type Row = { name: string; a?: NodePart; b?: NodePart; policy?: string; want: string };

test.each<Row>([
  { name: 'a node among others', policy: EMPTY, want: 'allow' },
  { name: 'no policy, so the setting says which', want: 'allow' },
  { name: 'a policy that there is not', policy: 'gently', want: 'request.invalid' },
  { name: 'one that is drained so', a: drained, policy: EMPTY, want: 'unchanged' },
  { name: 'one that is drained by another policy', a: drained, policy: 'always-allow', want: 'allow' },
  { name: 'the last node, to be emptied', b: { ready: false }, policy: EMPTY, want: 'node.last_ready' },
  { name: 'the last node, where copies stay', b: { ready: false }, want: 'allow' },
  {
    name: 'the last node, and it is empty',
    a: { disks: { 'a-disk': {} } },
    b: { ready: false },
    policy: EMPTY,
    want: 'allow',
  },
])('a drain of $name → $want', ({ a = {}, b = {}, policy, want }) => {
  const fleet = aFleet({ a: { disks: BOOKED, ...a }, b });
  const [node] = fleet.nodes;
  if (node === undefined) throw new Error('the fleet has no node');
  const decision = decideDrain(node, policy, fleet);
  expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
});

test('what is not drained has no drain to cancel', () => {
  expect(decideDrainCancellation({ id: asId<NodeId>('a'), name: 'a', drain: undefined }).kind).toBe(
    'unchanged',
  );
});

test('the only node and the only disk are not emptied, others are', () => {
  const alone = aFleet({ a: { disks: BOOKED }, b: { ready: false } });
  const among = aFleet({ a: { disks: BOOKED }, b: {} });
  const decide = ({ nodes, disks, ...rest }: typeof alone) => {
    const [node, disk] = [nodes[0], disks[0]];
    if (node === undefined || disk === undefined) throw new Error('the fleet is empty');
    const fleet = { ...rest, nodes, disks };
    return [decideNodeEviction(node, fleet), decideDiskEviction(disk, fleet)].map((decision) =>
      decision.kind === 'refuse' ? decision.code : decision.kind,
    );
  };
  expect(decide(alone)).toEqual(['node.last_ready', 'disk.last_ready']);
  expect(decide(among)).toEqual(['allow', 'allow']);
});
