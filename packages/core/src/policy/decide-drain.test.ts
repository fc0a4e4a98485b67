import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type NodeId } from '../model/ids.js';
import type { DrainPolicy } from '../model/node-drain.js';
import { decideDrain, decideDrainCancellation } from './decide-drain.js';
import { decideDiskEviction, decideNodeEviction, nodeForDiskMoves } from './decide-eviction.js';

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
    name: 'one beside a drained node, where cordons keep nothing away: it takes no replicas',
    b: { cordoned: true, ...drained },
    policy: EMPTY,
    settings: { 'disable-scheduling-on-cordoned-node': false },
    want: 'node.last_ready',
  },
  {
    name: 'one beside a node that is being emptied',
    b: { evictionRequested: true },
    policy: EMPTY,
    want: 'node.last_ready',
  },
  {
    name: 'one beside a node that is being emptied, by default: its copies count until they have moved',
    b: { evictionRequested: true },
    want: 'allow',
  },
  {
    name: 'one beside a node whose only disk is being emptied',
    b: { disks: { 'b-disk': { evictionRequested: true } } },
    policy: EMPTY,
    want: 'node.last_ready',
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

type Places = { a?: NodePart; b?: NodePart; settings?: Record<string, boolean>; node: string; disk: string };

const TWO_DISKS = { 'a-disk': { storageScheduledBytes: 1 }, 'a-spare': {} };

test.each<Places & { name: string }>([
  { name: 'among others', node: 'allow', disk: 'allow' },
  { name: 'alone', b: { ready: false }, node: 'node.last_ready', disk: 'disk.last_ready' },
  {
    name: 'beside one that is drained',
    b: { cordoned: true, ...drained },
    node: 'node.last_ready',
    disk: 'disk.last_ready',
  },
  {
    name: 'beside one that is drained, where cordons keep nothing away',
    b: { cordoned: true, ...drained },
    settings: { 'disable-scheduling-on-cordoned-node': false },
    node: 'node.last_ready',
    disk: 'disk.last_ready',
  },
  { name: 'beside a cordoned one', b: { cordoned: true }, node: 'node.last_ready', disk: 'disk.last_ready' },
  {
    name: 'beside a cordoned one, where cordons keep nothing away',
    b: { cordoned: true },
    settings: { 'disable-scheduling-on-cordoned-node': false },
    node: 'allow',
    disk: 'allow',
  },
  {
    name: 'beside one that is emptied, too',
    b: { evictionRequested: true },
    node: 'node.last_ready',
    disk: 'disk.last_ready',
  },
  {
    name: 'beside one whose only disk is emptied',
    b: { disks: { 'b-disk': { evictionRequested: true } } },
    node: 'node.last_ready',
    disk: 'disk.last_ready',
  },
  {
    name: 'beside one whose only disk is taken off',
    b: { disks: { 'b-disk': { removalRequestedAt: NOON } } },
    node: 'node.last_ready',
    disk: 'disk.last_ready',
  },
  {
    name: 'alone, with another disk',
    a: { disks: TWO_DISKS },
    b: { ready: false },
    node: 'node.last_ready',
    disk: 'allow',
  },
  {
    name: 'that holds nothing',
    a: { disks: { 'a-disk': {} } },
    b: { ready: false },
    node: 'allow',
    disk: 'allow',
  },
])(
  'a node $name to be emptied → $node, its disk → $disk',
  ({ a = {}, b = {}, settings = {}, node, disk }) => {
    const fleet = aFleet({ a: { disks: BOOKED, ...a }, b }, settings);
    const [ofNode, ofDisk] = [fleet.nodes[0], fleet.disks[0]];
    if (ofNode === undefined || ofDisk === undefined) throw new Error('the fleet is empty');
    const decided = [decideNodeEviction(ofNode, fleet), decideDiskEviction(ofDisk, fleet)];
    expect(decided.map((one) => (one.kind === 'refuse' ? one.code : one.kind))).toEqual([node, disk]);
  },
);

test('what leaves a disk goes by preference to another one of its node, which needs no other node to stay', () => {
  const fleet = aFleet({ 0: {}, a: { disks: TWO_DISKS } });
  const disk = fleet.disks.find(({ name }) => name === 'a-disk');
  if (disk === undefined) throw new Error('the fleet has no such disk');
  expect(nodeForDiskMoves(disk, fleet)?.name).toBe('a');
});
