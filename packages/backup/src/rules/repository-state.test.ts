import { describe, expect, test } from '@jest/globals';
import type { ChangeBody, JournalRecord } from '../model/format.js';
import { packObject, packOf } from '../model/names.js';
import {
  applyRecord,
  EMPTY_STATE,
  fromStored,
  objectionTo,
  objectsLeftBehind,
  type RepositoryState,
  runsToAbandon,
  toStored,
} from './repository-state.js';

const RUN = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);
const pack = packOf(RUN, 1);
const reference = (name: string) => ({ name, digest: 'd', sizeBytes: 1 });
const backup = {
  id: 'b1',
  volumeId: 'v',
  volumeName: 'v',
  snapshotName: 's',
  sizeBytes: 1,
  createdAt: '2026-01-01T00:00:00Z',
  labels: {},
  dataBytes: 1,
  addedBytes: 1,
};
const added: ChangeBody = {
  kind: 'backup-added',
  run: RUN,
  backup,
  manifest: reference(`data/${RUN}/manifest`),
  indexes: [reference(`data/${RUN}/i000001`)],
  rescued: [],
};
const condemned: ChangeBody = { kind: 'packs-condemned', run: OTHER, packs: [pack], indexes: [] };

const recordOf = (state: RepositoryState, body: ChangeBody): JournalRecord => ({
  sequence: state.sequence + 1,
  previous: state.headDigest,
  at: '2026-01-01T00:00:00Z',
  nonce: 'n',
  body,
});

/** The state after some changes; a record's digest is its number. */
const after = (...bodies: ChangeBody[]) =>
  bodies.reduce(
    (state, body) => applyRecord(state, recordOf(state, body), `${state.sequence + 1}`),
    EMPTY_STATE,
  );

describe('a record', () => {
  const state = after(added);

  test.each([
    { name: 'that follows is let in', change: {}, objection: undefined },
    { name: 'with a number twice', change: { sequence: 1 }, objection: /stands where 2 belongs/ },
    { name: 'that leaves one out', change: { sequence: 3 }, objection: /stands where 2 belongs/ },
    { name: 'that follows another one', change: { previous: '7' }, objection: /does not follow/ },
  ])('$name', ({ change, objection }) => {
    const found = objectionTo(state, { ...recordOf(state, condemned), ...change });
    if (objection === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(objection);
  });
});

describe('packs', () => {
  test('are condemned, and rescued by a backup that uses them', () => {
    expect([...after(added, condemned).condemned.keys()]).toEqual([pack]);
    const rescue: ChangeBody = { ...added, backup: { ...backup, id: 'b2' }, rescued: [pack] };
    expect(after(added, condemned, rescue).condemned.size).toBe(0);
  });

  test('die with the indexes that name them, and are gone in the end', () => {
    const replacedIndexes = [`data/${RUN}/i000001`];
    const dead: ChangeBody = { kind: 'packs-dead', run: OTHER, packs: [pack], indexes: [], replacedIndexes };
    const state = after(added, condemned, dead);
    expect([...state.dead]).toEqual([packObject(pack), ...replacedIndexes]);
    expect([state.condemned.size, state.indexes.size]).toEqual([0, 0]);
    const gone: ChangeBody = { kind: 'objects-gone', objects: [...state.dead] };
    expect(after(added, condemned, dead, gone).dead.size).toBe(0);
  });
});

describe('a run that left something behind', () => {
  const at = new Date('2026-01-02T00:00:00Z');
  const left = { name: packObject(packOf(OTHER, 1)), modifiedAt: at };
  const given = (hours: number) => ({
    now: new Date(at.getTime() + hours * 3_600_000),
    orphanAgeMs: 2 * 3_600_000,
  });

  test('is given up when it has written nothing for long', () => {
    expect(runsToAbandon(after(added), [left], new Set(), given(1))).toEqual([]);
    expect(runsToAbandon(after(added), [left], new Set(), given(2))).toEqual([OTHER]);
    const later = { name: `data/${OTHER}/i000001`, modifiedAt: given(1).now };
    expect(runsToAbandon(after(added), [left, later], new Set(), given(2))).toEqual([]);
  });

  test('has only that deleted which nothing refers to, once the journal says that it is given up', () => {
    const names = [left.name, `data/${RUN}/manifest`, packObject(pack)];
    expect(objectsLeftBehind(after(added), names, new Set([pack]))).toEqual([]);
    const abandoned: ChangeBody = { kind: 'runs-abandoned', runs: [OTHER, RUN] };
    expect(objectsLeftBehind(after(added, abandoned), names, new Set([pack]))).toEqual([left.name]);
  });
});

test('a state is the same after it was stored', () => {
  const state = after(added, condemned, { kind: 'runs-abandoned', runs: [OTHER] });
  expect(fromStored(JSON.parse(JSON.stringify(toStored(state))))).toEqual(state);
});
