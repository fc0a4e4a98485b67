import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aRequest, type NodePart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { SettingName } from '../../model/setting.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';

type Case = {
  name: string;
  node?: NodePart;
  request?: Partial<PlacementRequest>;
  settings?: Partial<Record<SettingName, boolean>>;
  want: string;
};

/** One node with one disk: what is asked of it decides. */
const ask = ({ node = {}, request = {}, settings = {} }: Case) =>
  outcomeOf(placeReplica(aRequest(request), aFleet({ n1: node }, settings), NOON));

const WINDOW = { until: new Date(NOON.getTime() + 60_000), reason: '' };
const DRAIN = { policy: 'block-for-eviction', requestedAt: NOON, wasCordoned: false } as const;
const OTHER_NODE = asId<NodeId>('n2');

describe('rules about nodes', () => {
  test.each<Case>([
    { name: 'a node like any other', want: 'n1-disk' },
    { name: 'a silent agent', node: { ready: false }, want: 'NodeNotReady' },
    { name: 'a cordoned node', node: { cordoned: true }, want: 'NodeCordoned' },
    {
      name: 'a cordoned node where the setting does not mind',
      node: { cordoned: true },
      settings: { 'disable-scheduling-on-cordoned-node': false },
      want: 'n1-disk',
    },
    { name: 'a drained node', node: { drain: DRAIN, cordoned: true }, want: 'NodeDraining' },
    {
      name: 'a drained node where the setting does not mind cordons',
      node: { drain: DRAIN, cordoned: true },
      settings: { 'disable-scheduling-on-cordoned-node': false },
      want: 'NodeDraining',
    },
    { name: 'a node in maintenance', node: { maintenance: WINDOW }, want: 'NodeMaintenance' },
    {
      name: 'a node in maintenance whose replica comes back',
      node: { maintenance: WINDOW },
      request: { reuseDiskId: asId<DiskId>('n1-disk') },
      want: 'n1-disk',
    },
    {
      name: 'a window that is over and not closed yet',
      node: { maintenance: { ...WINDOW, until: NOON } },
      want: 'NodeMaintenance',
    },
    { name: 'a node that is being emptied', node: { evictionRequested: true }, want: 'NodeEvicting' },
    { name: 'a node with scheduling off', node: { allowScheduling: false }, want: 'NodeSchedulingDisabled' },
    {
      name: 'a node that is not the required one',
      request: { requiredNodeId: OTHER_NODE },
      want: 'NodeNotRequired',
    },
    { name: 'the required node', request: { requiredNodeId: asId<NodeId>('n1') }, want: 'n1-disk' },
    {
      name: 'a node outside the topology',
      node: { zone: 'a', region: 'r' },
      request: { topology: [{ zone: 'b', region: undefined }] },
      want: 'TopologyMismatch',
    },
    {
      name: 'a node in one of the topology terms',
      node: { zone: 'a', region: 'r' },
      request: {
        topology: [
          { zone: 'b', region: undefined },
          { zone: undefined, region: 'r' },
        ],
      },
      want: 'n1-disk',
    },
    {
      name: 'a node whose agent never registered',
      node: { controlUrl: undefined },
      want: 'EngineUnavailable',
    },
    { name: 'a node without disks', node: { disks: {} }, want: 'NodeWithoutDisk' },
  ])('$name → $want', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});

describe('node tags', () => {
  test.each<Case>([
    {
      name: 'every selector is there',
      node: { tags: ['ssd', 'fast'] },
      request: { nodeSelector: ['fast'] },
      want: 'n1-disk',
    },
    {
      name: 'one selector is missing',
      node: { tags: ['fast'] },
      request: { nodeSelector: ['fast', 'ssd'] },
      want: 'NodeTagsMissing',
    },
    {
      name: 'tags differ in case',
      node: { tags: ['Fast'] },
      request: { nodeSelector: ['fast'] },
      want: 'NodeTagsMissing',
    },
    { name: 'no selector, tagged node', node: { tags: ['fast'] }, want: 'n1-disk' },
    {
      name: 'no selector, tagged node, tagged nodes are kept',
      node: { tags: ['fast'] },
      settings: { 'allow-empty-node-selector-volume': false },
      want: 'NodeTagsMissing',
    },
    {
      name: 'no selector, untagged node, tagged nodes are kept',
      settings: { 'allow-empty-node-selector-volume': false },
      want: 'n1-disk',
    },
  ])('$name → $want', (row) => {
    expect(ask(row)).toBe(row.want);
  });
});

test('a refusal names rule, numbers and cure', () => {
  const disks = { 'n1-disk': { bytes: GIB } };
  const placement = placeReplica(aRequest({ sizeBytes: 2 * GIB }), aFleet({ n1: { disks } }), NOON);
  expect(placement).toMatchObject({
    kind: 'refused',
    refusals: [
      {
        nodeName: 'n1',
        diskName: 'n1-disk',
        rejection: {
          rule: 'provisionable-space',
          reason: 'InsufficientProvisionableSpace',
          numbers: { requiredBytes: 2 * GIB, availableBytes: GIB, thresholdBytes: GIB },
          cure: expect.stringContaining('add a disk'),
        },
      },
    ],
  });
});
