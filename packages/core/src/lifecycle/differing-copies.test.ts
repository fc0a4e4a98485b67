import { AN_OWNER, anIdleVolume, aSnapshot, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { conditionOf } from '../model/condition.js';
import { copyRecord } from '../model/copy-record.js';
import type { Replica } from '../model/replica.js';
import type { Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { VolumeVerification } from '../model/volume.js';
import { differenceConditions, differencesOf } from './differing-copies.js';

const replicas = ['a', 'b'].map((name) => aReplicaOn(`${name}-disk`));
const ids = replicas.map(({ id }) => id);
const sums = (text: string) =>
  ids.map((replicaId, index) => ({
    replicaId,
    checksum: text[index] === '-' ? null : (text[index] ?? null),
  }));
const TIE: VolumeVerification = {
  requestedAt: NOON,
  finishedAt: NOON,
  state: 'done',
  equal: false,
  verdict: 'tie',
  epoch: 3,
  believed: { record: copyRecord(3, 1, ids), replicaIds: ids },
  replicas: sums('xy').map((sum) => ({ ...sum, writtenBytes: 0, error: null })),
  message: '',
};

type Part = { verification?: VolumeVerification; copies?: Replica[]; snapshot?: Partial<Snapshot> };

function view({ verification, copies = replicas, snapshot }: Part): VolumeView {
  const chain = { key: '3.1', headParentId: undefined, headBytes: 0, busy: '', keptIds: [], readAt: NOON };
  return aVolumeView({
    volume: anIdleVolume(AN_OWNER, { epoch: 3, verification, chain }),
    replicas: copies,
    snapshots: snapshot === undefined ? [] : [aSnapshot(snapshot)],
    fleet: aFleet({ a: {}, b: {} }),
  });
}

const rebuilt = replicas.map((replica, index) => ({
  ...replica,
  healthyAt: index === 1 ? secondsAfterNoon(60) : NOON,
}));
const failed = replicas.map((replica, index) => (index === 1 ? { ...replica, failedAt: NOON } : replica));
const hashRequest = { requestedAt: NOON, force: false, automatic: false, startedEpoch: 3 };

test.each<{ name: string; seen: Part; asks: boolean }>([
  { name: 'a verification that ended in a tie', seen: { verification: TIE }, asks: true },
  {
    name: 'a tie of which one copy was rebuilt since',
    seen: { verification: TIE, copies: rebuilt },
    asks: false,
  },
  { name: 'a tie of which one copy has failed', seen: { verification: TIE, copies: failed }, asks: false },
  {
    name: 'a majority, which has failed the odd copy',
    seen: { verification: { ...TIE, verdict: 'damaged' } },
    asks: false,
  },
  { name: 'a snapshot whose sums differ', seen: { snapshot: { checksums: sums('xy') } }, asks: true },
  {
    name: 'a snapshot that one copy has not hashed',
    seen: { snapshot: { checksums: sums('x-') } },
    asks: false,
  },
  {
    name: 'a snapshot whose hash is under way',
    seen: { snapshot: { checksums: sums('xy'), hashRequest } },
    asks: false,
  },
  {
    name: 'a snapshot of a copy that was rebuilt since',
    seen: { snapshot: { checksums: sums('xy') }, copies: rebuilt },
    asks: false,
  },
  {
    name: 'a snapshot that was deleted',
    seen: { snapshot: { checksums: sums('xy'), state: 'removed' } },
    asks: false,
  },
])('$name asks a person: $asks', ({ seen, asks }) => {
  expect(differencesOf(view(seen))).toHaveLength(asks ? 1 : 0);
});

test('the condition has both sums and the command, is told once, and ends with its cause', () => {
  const asked = differenceConditions(view({ verification: TIE }), [], NOON);
  expect(asked?.changes).toHaveLength(1);
  const conditions = asked?.conditions ?? [];
  const { message } = conditionOf(conditions, 'CopiesDiffer') ?? {};
  expect(message).toMatch(/has x,.*has y;.*accept-copies pg-data --copies/);
  expect(differenceConditions(view({ verification: TIE }), conditions, NOON)).toBeUndefined();
  const running = { ...TIE, state: 'running' as const, verdict: undefined };
  expect(differenceConditions(view({ verification: running }), conditions, NOON)).toBeUndefined();
  const ended = differenceConditions(view({ verification: TIE, copies: rebuilt }), conditions, NOON);
  expect(ended).toMatchObject({ conditions: [{ status: 'False' }], changes: [] });
});
