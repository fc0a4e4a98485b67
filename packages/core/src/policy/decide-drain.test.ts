import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type NodeId } from '../model/ids.js';
import type { DrainPolicy } from '../model/node-drain.js';
import { decideDrain, decideDrainCancellation } from './decide-drain.js';
import { decideDiskEviction, decideNodeEviction } from './decide-eviction.js';

const EMPTY: DrainPolicy = 'block-for-eviction';
const drained = { drain: { policy: EMPTY, requestedAt: NOON, wasCordoned: false } };
const A_WINDOW = { until: NOON, reason: '' };
const BOOKED = { 'a-disk': { storageScheduledBytes: 1 } };

type Row = {
  name: string;
  a?: NodePart;
  b?: NodePart;
  policy?: string;
  settings?: Record<string, boolean>;
  want: string;
};

test.each<Row>([
  { name: 'a node among others', policy: EMPTY, want: 'allow' },
  { name: 'no policy, so the setting says which', want: 'allow' },
  { name: 'a policy that there is not', policy: 'gently', want: 'request.invalid' },
  { name: 'one that is drained so', a: drained, policy: EMPTY, want: 'unchanged' },
  { name: 'one that is drained by another policy', a: drained, policy: 'always-allow', want: 'allow' },
  { name: 'the last node, to be emptied', b: { ready: false }, policy: EMPTY, want: 'node.last_ready' },
  { name: 'the last node, by default', b: { ready: false }, want: 'node.last_ready' },
  { name: 'the last node that is not cordoned', b: { cordoned: true }, want: 'node.last_ready' },
  {
    name: 'the last node that is not cordoned, to be emptied',
    b: { cordoned: true },
    policy: EMPTY,
    want: 'node.last_ready',
  },
  {
    name: 'one beside a cordoned node that takes replicas',
    b: { cordoned: true },
    policy: EMPTY,
    settings: { 'disable-scheduling-on-cordoned-node': false },
    want: 'allow',
  },
  {
    name: 'the last node whose copies count, although a cordoned one takes replicas',
    b: { cordoned: true },
    policy: 'block-for-eviction-if-contains-last-replica',
    settings: { 'disable-scheduling-on-cordoned-node': false },
    want: 'node.last_ready',
  },
  { name: 'one beside a node in maintenance', b: { maintenance: A_WINDOW }, want: 'allow' },
  { name: 'the last node, whatever it holds', b: { ready: false }, policy: 'always-allow', want: 'allow' },
  {
    name: 'the last node, once its volumes are detached',
    b: { ready: false },
    policy: 'allow-if-replica-is-stopped',
    want: 'allow',
  },
  {
    name: 'the last node, which is drained so already',
    a: { drain: { ...drained.drain, policy: 'block-if-contains-last-replica' } },
    b: { ready: false },
    want: 'unchanged',
  },
  {
    name: 'the last node, and it is empty',
    a: { disks: { 'a-disk': {} } },
    b: { ready: false },
    policy: EMPTY,
    want: 'allow',
  },
])('a drain of $name → $want', ({ a = {}, b = {}, policy, settings = {}, want }) => {
  const fleet = aFleet({ a: { disks: BOOKED, ...a }, b }, settings);
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
