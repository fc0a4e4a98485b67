import { describe, expect, test } from '@jest/globals';
import type { StampReport } from '../model/agent-protocol.js';
import type { DiskStamp } from '../model/disk-stamp.js';
import { duplicateRowId } from '../model/disk-stamp.js';
import { asId, type DiskId, isId, type NodeId } from '../model/ids.js';
import { judgeArrival, judgeHolder } from './disk-identity.js';

const HERE = asId<NodeId>('00000000-0000-4000-8000-000000000001');
const THERE = asId<NodeId>('00000000-0000-4000-8000-000000000002');
const NOON = new Date('2026-01-01T12:00:00Z');
const sender = { nodeId: THERE, bootId: 'boot-2', now: NOON };
const ready = (status: 'True' | 'False') => [
  { type: 'Ready' as const, status, reason: '', message: '', lastTransitionAt: NOON },
];
const stored = (part: Partial<DiskStamp> = {}): DiskStamp => ({
  id: 'c',
  generation: 3,
  isOpen: true,
  fileId: '7.1',
  bootId: 'boot-1',
  at: '2026-01-01T11:00:00.000Z',
  ...part,
});
const claim = (part: Partial<StampReport> = {}): StampReport => ({
  id: 'c',
  generation: 3,
  trail: ['b', 'a'],
  isOpen: true,
  fileId: '7.1',
  ...part,
});

type Arrival = {
  name: string;
  stamp?: Partial<DiskStamp>;
  claim?: Partial<StampReport>;
  accepted?: NodeId;
  want: 'moved' | 'duplicate';
};

describe('a disk that another node reports, whose own node is gone', () => {
  test.each<Arrival>([
    { name: 'in use, at its newest state, the same files', want: 'moved' },
    { name: 'in use, and its files were copied', claim: { fileId: '8.2' }, want: 'duplicate' },
    { name: 'in use, and of its files nothing is known', claim: { fileId: undefined }, want: 'duplicate' },
    {
      name: 'not in use, and its files were copied',
      stamp: { isOpen: false },
      claim: { isOpen: false, fileId: '8.2' },
      want: 'moved',
    },
    { name: 'an earlier state', claim: { id: 'b', generation: 2, trail: ['a'] }, want: 'duplicate' },
    { name: 'from before it had a stamp', claim: { id: null, generation: 0, trail: [] }, want: 'duplicate' },
    {
      name: 'an earlier state, which a user accepts',
      claim: { id: 'b', generation: 2, trail: ['a'] },
      accepted: THERE,
      want: 'moved',
    },
    {
      name: 'an earlier state, of which a user accepts another one',
      claim: { id: 'b', generation: 2, trail: ['a'] },
      accepted: HERE,
      want: 'duplicate',
    },
    {
      name: 'one stamp ahead, which was not stored any more',
      claim: { id: 'd', generation: 4, trail: ['c', 'b'] },
      want: 'moved',
    },
    {
      name: 'closed by a clean stop, and copied then',
      claim: { id: 'd', generation: 4, trail: ['c'], isOpen: false, fileId: '8.2' },
      want: 'moved',
    },
    {
      name: 'ahead, in use, and its files were copied',
      claim: { id: 'd', generation: 4, trail: ['c'], fileId: '8.2' },
      want: 'duplicate',
    },
    {
      name: 'parted from it at an earlier state',
      claim: { id: 'x', generation: 9, trail: ['b', 'a'] },
      want: 'duplicate',
    },
  ])('that is $name: $want', ({ stamp, claim: said, accepted, want }) => {
    const disk = {
      name: 'disk-1',
      conditions: ready('True'),
      stamp: stored(stamp),
      acceptedNodeId: accepted,
    };
    const from = { name: 'node-1', conditions: ready('False'), lastHeartbeatAt: NOON };
    const facts = { disk, from, replicas: [], isProven: true };
    const verdict = judgeArrival(facts, { ready: true, stamp: claim(said) }, sender);
    expect(verdict.kind).toBe(want);
    expect(
      judgeArrival({ ...facts, isProven: false }, { ready: true, stamp: claim(said) }, sender).kind,
    ).toBe('waits');
  });
});

describe('a disk that two living nodes report', () => {
  const disk = { name: 'disk-1', conditions: ready('True'), stamp: stored() };
  const report = { ready: true, stamp: claim() };
  const at = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
  const from = (seconds: number) => ({
    name: 'node-1',
    conditions: ready('True'),
    lastHeartbeatAt: at(seconds),
  });

  test('it is there twice once its own node has gone on reporting it', () => {
    const first = judgeArrival({ disk, from: from(-1), replicas: [], isProven: true }, report, sender);
    const rivals = { [THERE]: { since: NOON.toISOString(), stampId: 'c', isTogether: false } };
    expect(first).toEqual({ kind: 'waits', rivals });
    const known = { ...disk, rivals };
    const soon = judgeArrival({ disk: known, from: from(5), replicas: [], isProven: true }, report, sender);
    expect(soon).toEqual({ kind: 'waits', rivals: undefined });
    const later = judgeArrival({ disk: known, from: from(6), replicas: [], isProven: false }, report, sender);
    expect(later).toMatchObject({ kind: 'duplicate', rivals: { [THERE]: { isTogether: true } } });
  });

  test.each([
    { name: 'with stamps', stamp: stored(), said: claim() },
    { name: 'of older agents', stamp: undefined, said: undefined },
  ])('what was there beside it is not taken for it when its node dies: $name', ({ stamp, said }) => {
    const rivals = { [THERE]: { since: NOON.toISOString(), stampId: said?.id ?? null, isTogether: true } };
    const gone = { ...from(0), conditions: ready('False') };
    const facts = { disk: { ...disk, stamp, rivals }, from: gone, replicas: [], isProven: true };
    expect(judgeArrival(facts, { ready: true, stamp: said }, sender).kind).toBe('duplicate');
  });
});

describe('a disk that its own node reports', () => {
  const own = { nodeId: HERE, bootId: 'boot-1', now: NOON };
  const judge = (said: Partial<StampReport>, stamp: Partial<DiskStamp> = {}, acceptedNodeId?: NodeId) =>
    judgeHolder({ stamp: stored(stamp), acceptedNodeId }, claim(said), own);

  test('the stored stamp is confirmed, and the next ones are stored', () => {
    expect(judge({})).toEqual({ kind: 'kept', isConfirmed: true });
    expect(judge({ id: 'd', generation: 4, trail: ['c'] })).toMatchObject({
      stamp: { id: 'd', at: NOON.toISOString() },
    });
    // A restored database knows an earlier one than the disk.
    expect(judge({ id: 'z', generation: 30, trail: ['y'] })).toMatchObject({ kind: 'stored' });
    expect(judgeHolder({}, claim({ id: null, generation: 0, trail: [] }), own)).toEqual({
      kind: 'kept',
      isConfirmed: true,
    });
  });

  test('an earlier state is set back, unless the report came late or a user accepts it', () => {
    const older = { id: 'b', generation: 2, trail: ['a'] };
    expect(judge(older)).toMatchObject({ kind: 'set-back' });
    expect(judge({ id: null, generation: 0, trail: [] })).toMatchObject({ kind: 'set-back' });
    const justNow = { at: '2026-01-01T11:59:50.000Z' };
    expect(judge(older, justNow)).toEqual({ kind: 'kept', isConfirmed: false });
    expect(judge(older, { ...justNow, bootId: 'boot-0' })).toMatchObject({ kind: 'set-back' });
    expect(judge(older, {}, HERE)).toMatchObject({ stamp: { id: 'b' } });
    expect(judge(older, {}, THERE)).toMatchObject({ kind: 'set-back' });
  });

  test('an agent that says nothing of stamps leaves them as they are', () => {
    expect(judgeHolder({ stamp: stored() }, undefined, own)).toEqual({ kind: 'kept', isConfirmed: false });
  });
});

test('the row of a second disk has an id of its own on each node', () => {
  const disk = asId<DiskId>('12345678-1234-4234-9234-123456789abc');
  const ids = [disk, duplicateRowId(disk, HERE), duplicateRowId(disk, THERE)];
  expect(new Set(ids).size).toBe(3);
  expect(ids.every(isId)).toBe(true);
  expect(duplicateRowId(disk, HERE)).toBe(ids[1]);
});
