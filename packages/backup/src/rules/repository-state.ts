/** State of a repository: what its journal comes to. Each record is applied in order; nothing else changes it. */
import type { BackupSummary, ChangeBody, JournalRecord, ObjectReference } from '../model/format.js';
import { packObject, packOfObject, runOfObject } from '../model/names.js';

export type StoredBackup = BackupSummary & { readonly manifest: ObjectReference };

export type RepositoryState = {
  readonly sequence: number;
  /** Digest of the newest record, which the next one names. */
  readonly headDigest: string;
  readonly backups: ReadonlyMap<string, StoredBackup>;
  readonly indexes: ReadonlyMap<string, ObjectReference>;
  /** Packs that no further backup may use, and since when. */
  readonly condemned: ReadonlyMap<string, string>;
  /** Objects that are to be deleted, and may be gone already. */
  readonly dead: ReadonlySet<string>;
  readonly abandonedRuns: ReadonlySet<string>;
};

export const EMPTY_STATE: RepositoryState = {
  sequence: 0,
  headDigest: '',
  backups: new Map(),
  indexes: new Map(),
  condemned: new Map(),
  dead: new Set(),
  abandonedRuns: new Set(),
};

/** Why a record can't follow; `undefined`: it can. */
export function objectionTo(state: RepositoryState, record: JournalRecord): string | undefined {
  if (record.sequence !== state.sequence + 1)
    return `record ${record.sequence} stands where ${state.sequence + 1} belongs`;
  if (record.previous !== state.headDigest)
    return `record ${record.sequence} does not follow the one before it`;
  return undefined;
}

/** The state after a record. @param digest of the record as it is stored */
export function applyRecord(state: RepositoryState, record: JournalRecord, digest: string): RepositoryState {
  return { ...applyBody(state, record.body, record.at), sequence: record.sequence, headDigest: digest };
}

function applyBody(state: RepositoryState, body: ChangeBody, at: string): RepositoryState {
  switch (body.kind) {
    case 'repository-created':
      return state;
    case 'index-added':
      return withIndexes(state, body.indexes);
    case 'backup-added':
      return {
        ...withIndexes(state, body.indexes),
        backups: new Map(state.backups).set(body.backup.id, { ...body.backup, manifest: body.manifest }),
        condemned: without(state.condemned, body.rescued),
      };
    case 'backup-deleted': {
      const gone = state.backups.get(body.backupId);
      return {
        ...state,
        backups: without(state.backups, [body.backupId]),
        dead: gone === undefined ? state.dead : new Set([...state.dead, gone.manifest.name]),
      };
    }
    case 'packs-condemned':
      return {
        ...withIndexes(state, body.indexes),
        condemned: new Map([...state.condemned, ...body.packs.map((pack) => [pack, at] as const)]),
      };
    case 'packs-dead':
      return {
        ...withIndexes(state, body.indexes, body.replacedIndexes),
        condemned: without(state.condemned, body.packs),
        dead: new Set([...state.dead, ...body.packs.map(packObject), ...body.replacedIndexes]),
      };
    case 'objects-gone':
      return withoutObjects(state, body.objects);
    case 'runs-abandoned':
      return { ...state, abandonedRuns: new Set([...state.abandonedRuns, ...body.runs]) };
    case 'indexes-replaced':
      return {
        ...withIndexes(state, body.indexes, body.replacedIndexes),
        dead: new Set([...state.dead, ...body.replacedIndexes]),
      };
  }
}

function withIndexes(
  state: RepositoryState,
  added: readonly ObjectReference[],
  replaced: readonly string[] = [],
): RepositoryState {
  const indexes = new Map(state.indexes);
  for (const name of replaced) indexes.delete(name);
  for (const index of added) indexes.set(index.name, index);
  return { ...state, indexes };
}

function withoutObjects(state: RepositoryState, objects: readonly string[]): RepositoryState {
  const gone = new Set(objects);
  return { ...state, dead: new Set([...state.dead].filter((name) => !gone.has(name))) };
}

function without<Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> {
  const rest = new Map(map);
  for (const key of keys) rest.delete(key);
  return rest;
}

/** Packs that nothing may be read from any more. */
export function deadPacks(body: ChangeBody): readonly string[] {
  return body.kind === 'packs-dead' ? body.packs : [];
}

/** The form of a state in a checkpoint. */
export type StoredState = {
  readonly sequence: number;
  readonly headDigest: string;
  readonly backups: readonly StoredBackup[];
  readonly indexes: readonly ObjectReference[];
  readonly condemned: readonly (readonly [string, string])[];
  readonly dead: readonly string[];
  readonly abandonedRuns: readonly string[];
};

export function toStored(state: RepositoryState): StoredState {
  return {
    sequence: state.sequence,
    headDigest: state.headDigest,
    backups: [...state.backups.values()],
    indexes: [...state.indexes.values()],
    condemned: [...state.condemned],
    dead: [...state.dead],
    abandonedRuns: [...state.abandonedRuns],
  };
}

export function fromStored(stored: StoredState): RepositoryState {
  return {
    sequence: stored.sequence,
    headDigest: stored.headDigest,
    backups: new Map(stored.backups.map((backup) => [backup.id, backup])),
    indexes: new Map(stored.indexes.map((index) => [index.name, index])),
    condemned: new Map(stored.condemned),
    dead: new Set(stored.dead),
    abandonedRuns: new Set(stored.abandonedRuns),
  };
}

/** Whether a run has been given up, so that what it wrote without telling may be deleted at any moment. */
export function isAbandoned(state: RepositoryState, run: string): boolean {
  return state.abandonedRuns.has(run);
}

type FoundObject = { readonly name: string; readonly modifiedAt: Date };

/** Runs that left objects behind which nothing refers to, and have written nothing for so long that they have probably died. */
export function runsToAbandon(
  state: RepositoryState,
  objects: readonly FoundObject[],
  indexedPacks: ReadonlySet<string>,
  { now, orphanAgeMs }: { readonly now: Date; readonly orphanAgeMs: number },
): string[] {
  const newest = new Map<string, number>();
  const leftBehind = new Set<string>();
  for (const { name, modifiedAt } of objects) {
    const run = runOfObject(name);
    if (run === undefined || isAbandoned(state, run)) continue;
    newest.set(run, Math.max(newest.get(run) ?? 0, modifiedAt.getTime()));
    if (!isReferenced(state, name, indexedPacks)) leftBehind.add(run);
  }
  return [...leftBehind].filter((run) => now.getTime() - (newest.get(run) ?? 0) >= orphanAgeMs);
}

/** What may be deleted of abandoned runs: what nothing refers to. */
export function objectsLeftBehind(
  state: RepositoryState,
  names: readonly string[],
  indexedPacks: ReadonlySet<string>,
): string[] {
  return names.filter((name) => {
    const run = runOfObject(name);
    return run !== undefined && isAbandoned(state, run) && !isReferenced(state, name, indexedPacks);
  });
}

function isReferenced(state: RepositoryState, name: string, indexedPacks: ReadonlySet<string>): boolean {
  const pack = packOfObject(name);
  if (pack !== undefined && indexedPacks.has(pack)) return true;
  // Dead objects have a deletion of their own.
  if (state.indexes.has(name) || state.dead.has(name)) return true;
  return [...state.backups.values()].some(({ manifest }) => manifest.name === name);
}
