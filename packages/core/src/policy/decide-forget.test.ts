import { A_SPEC, AN_OWNER, anIdleVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type NodeId, type ReplicaId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { Volume } from '../model/volume.js';
import { decideForget, type LossKind, lossOf } from './decide-forget.js';

const DEAD = { ready: false };
const GONE = { ...DEAD, forget: { requestedAt: NOON, acceptedLosses: [] } };
const NODES: Record<string, NodePart> = { n1: {}, n2: {}, n3: DEAD };
const N3 = asId<NodeId>('n3');
const ids = (...names: string[]) => names.map((name) => asId<ReplicaId>(name));
const full = (node: string, part: Partial<Replica> = {}) =>
  aReplicaOn(`${node}-disk`, { id: asId<ReplicaId>(node), mode: undefined, ...part });
const failed = (node: string) => full(node, { failedAt: NOON, lastHealthyAt: NOON });
const volume = (part: Partial<Volume> = {}) => anIdleVolume(AN_OWNER, { spec: A_SPEC, ...part });
const THREE = { record: copyRecord(1, 1, ids('n1', 'n2', 'n3')) };

type Case = {
  name: string;
  replicas?: Replica[];
  of?: Partial<Volume>;
  nodes?: Record<string, NodePart>;
  want: LossKind | undefined;
};

// Node n3 is to be forgotten. The volume has full copies on n1, n2 and n3, which its record names, unless a case says otherwise.
test.each<Case>([
  { name: 'two of three members elsewhere: nothing', want: undefined },
  { name: 'no copy there: nothing', replicas: [full('n1'), full('n2')], want: undefined },
  { name: 'the only copy: all', replicas: [full('n3')], want: 'all' },
  { name: 'a failed copy as the last one: all', replicas: [failed('n3')], want: 'all' },
  {
    name: 'one of three members elsewhere: the newest writes',
    replicas: [full('n1'), full('n3')],
    want: 'newest',
  },
  {
    name: 'one of two members elsewhere: nothing, half is enough',
    replicas: [full('n1'), full('n3')],
    of: { record: copyRecord(1, 1, ids('n1', 'n3')) },
    want: undefined,
  },
  {
    name: 'a copy elsewhere that the record leaves out: the newest writes',
    replicas: [full('n1'), full('n3')],
    of: { record: copyRecord(1, 1, ids('n3')) },
    want: 'newest',
  },
  {
    name: 'a copy there that the record leaves out: nothing',
    replicas: [full('n1'), failed('n3')],
    of: { record: copyRecord(1, 1, ids('n1')) },
    want: undefined,
  },
  {
    name: 'failed copies elsewhere only: the newest writes',
    replicas: [failed('n1'), full('n3')],
    want: 'newest',
  },
  { name: 'a copy on another dead node: nothing, it may come back', nodes: { n2: DEAD }, want: undefined },
  { name: 'a copy on another forgotten node: the newest writes', nodes: { n2: GONE }, want: 'newest' },
  {
    name: 'copies on forgotten nodes only: all',
    replicas: [full('n2'), full('n3')],
    nodes: { n2: GONE },
    want: 'all',
  },
  {
    name: 'a copy elsewhere that is to go: all',
    replicas: [full('n1', { intent: 'remove' }), full('n3')],
    want: 'all',
  },
  {
    name: 'a restored database: the newest writes, all members have to answer',
    of: { restoredAt: NOON },
    want: 'newest',
  },
  { name: 'a volume without a record: nothing', of: { record: undefined }, want: undefined },
])('with the node a volume loses, given $name', ({ replicas, of = {}, nodes = {}, want }) => {
  const copies = replicas ?? [full('n1'), full('n2'), full('n3')];
  const view = { volume: volume({ ...THREE, ...of }), replicas: copies };
  expect(lossOf(N3, view, aFleet({ ...NODES, ...nodes }))).toBe(want);
});

describe('a request to forget the node', () => {
  const decide = (part: NodePart, accepted: readonly Volume['id'][] = [], replicas = [full('n3')]) => {
    const fleet = aFleet({ ...NODES, n3: part });
    const node = fleet.nodes.find(({ id }) => id === N3);
    if (node === undefined) throw new Error('the fleet has a node n3');
    const volumes = [{ volume: volume({ ...THREE, name: 'pg' }), replicas, rebuilds: [] }];
    return decideForget(node, { fleet, volumes }, accepted);
  };
  const { id } = volume();

  test('is refused while its agent runs, with the drain as the way', () => {
    const decision = decide({ ready: true });
    expect(decision).toMatchObject({ kind: 'refuse', code: 'node.in_use' });
    expect(decision).toMatchObject({
      cures: expect.arrayContaining([expect.stringContaining('node drain n3')]),
    });
  });

  test('is refused where data would be lost, and names the volume in the way out', () => {
    const decision = decide(DEAD);
    expect(decision).toMatchObject({ kind: 'refuse', code: 'node.holds_only_copy' });
    expect(decision).toMatchObject({ why: expect.stringContaining('the only copy of pg') });
    expect(decision).toMatchObject({ cures: expect.arrayContaining([expect.stringContaining('--lose pg')]) });
  });

  test('is allowed where nothing is lost, and where the loss is accepted', () => {
    expect(decide(DEAD, [], [full('n1'), full('n2'), full('n3')]).kind).toBe('allow');
    expect(decide(DEAD, [id]).kind).toBe('allow');
  });

  test('changes nothing the second time, unless it accepts more', () => {
    const known = { ...DEAD, forget: { requestedAt: NOON, acceptedLosses: [id] } };
    expect(decide(known).kind).toBe('unchanged');
    expect(decide(GONE, [id]).kind).toBe('allow');
  });
});
