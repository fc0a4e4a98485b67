/** What a repository holds, by its journal and its index: nothing is read but those. */
import type { BackupSummary } from '../model/format.js';
import type { Repository } from './repository.js';

export type RepositoryStats = {
  readonly repositoryId: string;
  readonly projectId: string;
  readonly version: number;
  readonly blockBytes: number;
  readonly createdAt: string;
  readonly sequence: number;
  readonly backups: number;
  readonly volumes: number;
  /** Sizes of the volumes of all backups. */
  readonly volumeBytes: number;
  /** Bytes that blobs take at the target. */
  readonly storedBytes: number;
  /** The same uncompressed. */
  readonly rawBytes: number;
  readonly blobs: number;
  readonly packs: number;
  readonly condemnedPacks: number;
  /** Objects that wait for their deletion. */
  readonly deadObjects: number;
};

export async function stats(repository: Repository): Promise<RepositoryStats> {
  await repository.refresh();
  const { facts, state } = repository;
  const backups = [...state.backups.values()];
  let storedBytes = 0;
  let rawBytes = 0;
  let blobs = 0;
  for (const blob of repository.blobs.entries()) {
    storedBytes += blob.storedBytes;
    rawBytes += blob.rawBytes;
    blobs += 1;
  }
  return {
    repositoryId: facts.repositoryId,
    projectId: facts.projectId,
    version: facts.version,
    blockBytes: facts.blockBytes,
    createdAt: facts.createdAt,
    sequence: state.sequence,
    backups: backups.length,
    volumes: new Set(backups.map(({ volumeId }) => volumeId)).size,
    volumeBytes: backups.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    storedBytes,
    rawBytes,
    blobs,
    packs: repository.indexedPacks().size,
    condemnedPacks: state.condemned.size,
    deadObjects: state.dead.size,
  };
}

/** Backups, the newest first. */
export function listBackups(repository: Repository): BackupSummary[] {
  return [...repository.state.backups.values()]
    .map(({ manifest: _, ...backup }) => backup)
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}
