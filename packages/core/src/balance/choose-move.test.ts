import {
  A_SPEC,
  AN_OWNER,
  anIdleVolume,
  NOON,
  secondsAfterNoon,
  testId,
} from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { GIB } from '../model/bytes.js';
import { asId, type DiskId, type NodeId, type ReplicaId } from '../model/ids.js';
import type { BalanceMove, Place, Relocation } from '../model/relocation.js';
import type { Replica } from '../model/replica.js';
import type { SettingName } from '../model/setting.js';
import type { VolumeView } from '../model/views.js';
import type { Volume, VolumeSpec } from '../model/volume.js';
import type { SettingValue } from '../settings/effective.js';
import { chooseMove } from './choose-move.js';

type Case = {
  nodes: Record<string, NodePart>;
  /** Disks that hold a copy; one that holds two is listed twice. */
  copies: string[];
  settings?: Partial<Record<SettingName, SettingValue>>;
  spec?: Partial<VolumeSpec>;
  volume?: Partial<Volume>;
  replica?: Partial<Replica>;
  underWay?: Relocation[];
};

/** A volume that is attached on n1, healthy, and balanced with best effort. */
function seen({ nodes, copies, settings, spec, volume, replica, underWay = [] }: Case): VolumeView {
  const replicas = copies.map((disk, index) =>
    aReplicaOn(disk, { id: asId<ReplicaId>(`r${index + 1}`), mode: 'RW', ...replica }),
  );
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, {
      lifecycle: attachedOn('n1'),
      spec: { ...A_SPEC, replicaSoftAntiAffinity: 'enabled', numberOfReplicas: copies.length, ...spec },
      ...volume,
    }),
    replicas,
    fleet: aFleet(nodes, { 'replica-auto-balance': 'best-effort', ...settings }),
    relocations: {
      version: 1,
      underWay: underWay.map((relocation) => ({ volumeId: asId(testId(9)), relocation })),
    },
  });
}

/** `r1 to n2-disk`, `stop`, `blocked`, or `none`. */
function answer(facts: Case, now = NOON): string {
  const choice = chooseMove(seen(facts), now);
  if (choice?.kind !== 'move') return choice?.kind ?? 'none';
  return `${choice.move.replica.id} to ${choice.move.to.diskId}`;
}

const TWO = { n1: {}, n2: {} };
const CROWDED = { nodes: TWO, copies: ['n1-disk', 'n1-disk'] };
const SETTLING = { 'replica-auto-balance-node-settling-time': 600 };
const AWAY_LATELY = { returnedAt: secondsAfterNoon(-60) };

describe('best effort', () => {
  test.each<{ name: string; facts: Case; want: string }>([
    { name: 'moves from the node with more copies', facts: CROWDED, want: 'r1 to n2-disk' },
    {
      name: 'leaves a difference of one',
      facts: { nodes: TWO, copies: ['n1-disk', 'n1-disk', 'n2-disk'] },
      want: 'none',
    },
    {
      name: 'prefers the emptiest node',
      facts: { nodes: { ...TWO, n3: {} }, copies: ['n1-disk', 'n1-disk', 'n1-disk', 'n2-disk'] },
      want: 'r1 to n3-disk',
    },
    {
      name: 'evens zones first',
      facts: {
        nodes: { n1: { zone: 'a' }, n2: { zone: 'a' }, n3: { zone: 'b' } },
        copies: ['n1-disk', 'n2-disk'],
      },
      want: 'r1 to n3-disk',
    },
    {
      name: 'makes no zone more crowded to even nodes',
      facts: {
        nodes: { n1: { zone: 'a' }, n2: { zone: 'b' }, n3: { zone: 'b' }, n4: { zone: 'b' } },
        copies: ['n1-disk', 'n1-disk', 'n2-disk', 'n3-disk'],
      },
      want: 'none',
    },
    {
      name: 'keeps to the margin',
      facts: { ...CROWDED, settings: { 'replica-auto-balance-margin': 3 } },
      want: 'none',
    },
    {
      name: 'moves with a difference as large as the margin',
      facts: {
        nodes: TWO,
        copies: ['n1-disk', 'n1-disk', 'n1-disk'],
        settings: { 'replica-auto-balance-margin': 3 },
      },
      want: 'r1 to n2-disk',
    },
    {
      name: 'waits where the emptier node has no room',
      facts: { ...CROWDED, nodes: { n1: {}, n2: { disks: { 'n2-disk': { bytes: GIB / 2 } } } } },
      want: 'blocked',
    },
    {
      name: 'moves nothing to a node that was away lately',
      facts: { ...CROWDED, nodes: { n1: {}, n2: AWAY_LATELY }, settings: SETTLING },
      want: 'none',
    },
    {
      name: 'moves nothing from a node that was away lately',
      facts: { ...CROWDED, nodes: { n1: AWAY_LATELY, n2: {} }, settings: SETTLING },
      want: 'none',
    },
    {
      name: 'moves to it as soon as it has settled',
      facts: {
        ...CROWDED,
        nodes: { n1: {}, n2: AWAY_LATELY },
        settings: { 'replica-auto-balance-node-settling-time': 60 },
      },
      want: 'r1 to n2-disk',
    },
    {
      name: "leaves the engine's copy where locality wants it",
      facts: {
        nodes: { n1: { zone: 'a' }, n2: { zone: 'a' }, n3: { zone: 'b' } },
        copies: ['n1-disk', 'n2-disk'],
        spec: { dataLocality: 'best-effort' },
      },
      want: 'r2 to n3-disk',
    },
    {
      name: 'waits until the bytes under way leave room',
      facts: {
        ...CROWDED,
        settings: { 'replica-auto-balance-bytes-in-flight': 1 },
        volume: { writtenBytes: GIB },
        underWay: [underWay('balance', 1)],
      },
      want: 'blocked',
    },
    {
      name: 'counts only what balance moves',
      facts: {
        ...CROWDED,
        settings: { 'replica-auto-balance-bytes-in-flight': 1 },
        volume: { writtenBytes: GIB },
        underWay: [underWay('requested', GIB)],
      },
      want: 'r1 to n2-disk',
    },
    {
      name: 'moves a volume alone that is larger than the bound',
      facts: {
        ...CROWDED,
        settings: { 'replica-auto-balance-bytes-in-flight': 1 },
        volume: { writtenBytes: 2 * GIB },
      },
      want: 'r1 to n2-disk',
    },
    {
      name: 'leaves a degraded volume to its repair',
      facts: { ...CROWDED, volume: { robustness: 'degraded' } },
      want: 'none',
    },
    {
      name: 'does nothing while no rebuild may start',
      facts: { ...CROWDED, settings: { 'concurrent-replica-rebuild-per-node-limit': 0 } },
      want: 'none',
    },
    {
      name: 'does nothing where the volume says no',
      facts: { ...CROWDED, spec: { replicaAutoBalance: 'disabled' } },
      want: 'none',
    },
  ])('$name', ({ facts, want }) => {
    expect(answer(facts)).toBe(want);
  });
});

describe('least effort', () => {
  const LEAST = { 'replica-auto-balance': 'least-effort' };
  test.each<{ name: string; facts: Case; want: string }>([
    { name: 'uses an unused node', facts: { ...CROWDED, settings: LEAST }, want: 'r1 to n2-disk' },
    {
      name: 'leaves used nodes as uneven as they are',
      facts: { nodes: TWO, copies: ['n1-disk', 'n1-disk', 'n1-disk', 'n2-disk'], settings: LEAST },
      want: 'none',
    },
    {
      name: 'uses an unused zone',
      facts: {
        nodes: { n1: { zone: 'a' }, n2: { zone: 'a' }, n3: { zone: 'b' } },
        copies: ['n1-disk', 'n2-disk'],
        settings: LEAST,
      },
      want: 'r1 to n3-disk',
    },
    {
      name: 'takes no notice of a disk under pressure',
      facts: { ...pressedOn(95, 50), settings: LEAST },
      want: 'none',
    },
  ])('$name', ({ facts, want }) => {
    expect(answer(facts)).toBe(want);
  });
});

describe('a disk under pressure', () => {
  test.each<{ name: string; facts: Case; want: string }>([
    { name: 'is left for an emptier one', facts: pressedOn(95, 50), want: 'r1 to n1-other' },
    { name: 'is not left for one that is hardly emptier', facts: pressedOn(91, 85), want: 'blocked' },
    {
      name: 'is left for it with a smaller margin',
      facts: pressedOn(91, 85, { 'replica-auto-balance-disk-margin-percentage': 5 }),
      want: 'r1 to n1-other',
    },
    {
      name: 'is no concern where the setting is 0',
      facts: pressedOn(95, 50, { 'replica-auto-balance-disk-pressure-percentage': 0 }),
      want: 'none',
    },
    {
      name: 'is left by one copy at a time',
      facts: { ...pressedOn(95, 50), underWay: [underWay('requested', 1, 'n1-disk')] },
      want: 'blocked',
    },
  ])('$name', ({ facts, want }) => {
    expect(answer(facts)).toBe(want);
  });
});

describe('after moves of auto-balance', () => {
  const resting = (moves: BalanceMove[], stoppedAt?: Date): Case => ({
    ...CROWDED,
    volume: { balance: { moves, stoppedAt } },
  });

  test('the volume rests for the cool-down', () => {
    const facts = resting([moved('n3', 'n1', -29)]);
    expect([answer(facts), answer(facts, secondsAfterNoon(1))]).toEqual(['none', 'r1 to n2-disk']);
  });

  test.each<{ name: string; moves: BalanceMove[]; want: string }>([
    { name: 'a first return is made', moves: [moved('n2', 'n1', -60)], want: 'r1 to n2-disk' },
    {
      name: 'a second one is not',
      moves: [moved('n2', 'n1', -180), moved('n1', 'n2', -120), moved('n2', 'n1', -60)],
      want: 'stop',
    },
    {
      name: 'nor one in a larger circle',
      moves: [moved('n2', 'n3', -240), moved('n3', 'n2', -180), moved('n2', 'n1', -120)],
      want: 'stop',
    },
    {
      name: 'what was days ago does not count',
      moves: [moved('n2', 'n1', -200_000), moved('n1', 'n2', -190_000), moved('n2', 'n1', -180_000)],
      want: 'r1 to n2-disk',
    },
  ])('$name', ({ moves, want }) => {
    expect(answer(resting(moves))).toBe(want);
  });

  test('a volume that was left alone stays so', () => {
    expect(answer(resting([moved('n2', 'n1', -60)], NOON))).toBe('none');
  });
});

test('the same view gives the same move, in whatever order its parts are', () => {
  const nodes = Object.fromEntries(['n1', 'n2', 'n3', 'n4'].map((name) => [name, {}]));
  const view = seen({ nodes, copies: ['n1-disk', 'n1-disk', 'n1-disk'] });
  const turned: VolumeView = {
    ...view,
    replicas: [...view.replicas].reverse(),
    fleet: { ...view.fleet, nodes: [...view.fleet.nodes].reverse(), disks: [...view.fleet.disks].reverse() },
  };
  const chosen = (seenView: VolumeView) => {
    const choice = chooseMove(seenView, NOON);
    return choice?.kind === 'move' ? [choice.move.replica.id, choice.move.to, choice.move.gain] : [];
  };
  expect(chosen(turned)).toEqual(chosen(view));
  expect(chosen(view)).toContain('node n1 holds 3 of its copies and node n2 0');
});

function at(node: string, disk = `${node}-disk`): Place {
  return { nodeId: asId<NodeId>(node), diskId: asId<DiskId>(disk) };
}

function moved(from: string, to: string, seconds: number): BalanceMove {
  return { from: at(from), to: at(to), at: secondsAfterNoon(seconds) };
}

function underWay(reason: Relocation['reason'], bytes: number, disk = 'n9-disk'): Relocation {
  return { reason, bytes, from: at('n9', disk), replacesId: asId('other'), gain: '', at: NOON };
}

/** One copy on the first of two disks of n1, which are used by so many per cent. */
function pressedOn(used: number, usedOther: number, settings: Case['settings'] = {}): Case {
  const disk = (percent: number) => ({ storageAvailableBytes: (100 - percent) * GIB });
  return {
    nodes: { n1: { disks: { 'n1-disk': disk(used), 'n1-other': disk(usedOther) } } },
    copies: ['n1-disk'],
    settings: { 'storage-minimal-available-percentage': 0, ...settings },
  };
}

describe('the stable copy', () => {
  const ZONES = { n1: { zone: 'a' }, n2: { zone: 'a' }, n3: { zone: 'b' } };
  const OLD = { healthyAt: secondsAfterNoon(-86_400) };
  const copies = ['n1-disk', 'n2-disk'];
  const ask = (nodes: Record<string, NodePart>, now = NOON) =>
    answer({ nodes: { ...ZONES, ...nodes }, copies, settings: SETTLING, replica: OLD }, now);

  test('moves while the other is as old', () => {
    expect(ask({})).toBe('r1 to n3-disk');
  });

  test('stays while the node of the other one has only just come back', () => {
    expect(ask({ n2: { zone: 'a', ...AWAY_LATELY } })).toBe('blocked');
  });

  test('stays afterwards too, and the younger one moves', () => {
    expect(ask({ n2: { zone: 'a', ...AWAY_LATELY } }, secondsAfterNoon(540))).toBe('r2 to n3-disk');
  });
});
