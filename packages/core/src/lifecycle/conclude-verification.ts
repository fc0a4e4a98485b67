import type { CopyRecord } from '../model/copy-record.js';
import type { Replica } from '../model/replica.js';
import type { VolumeVerification } from '../model/volume.js';

type CopyResult = VolumeVerification['replicas'][number];
type Checksum = {
  readonly checksum: string;
  readonly writtenBytes: number;
  readonly record?: CopyRecord | null | undefined;
  readonly clean?: boolean | undefined;
};

/** At 100 MB/s a whole copy of 1 TB is read in this time. A copy that takes longer is reported as not read. */
const VERIFY_MS_MAX = 3 * 3_600_000;
/** A scheduled verification reads at a limited rate, behind those of other volumes: a day, and the rest is reported as unread. */
const SCHEDULED_MS_MAX = 24 * 3_600_000;

/**
 * Answer about one copy: its checksum, that it is still being read, that its node does not answer, or why it could not be
 * read.
 */
export type CopyAnswer = Checksum | 'running' | 'silent' | { readonly error: string };

/** Copies that a verification is about: failed ones are known to be old, and prove nothing about the others. */
export function verifiableCopies(replicas: readonly Replica[]): Replica[] {
  return replicas.filter(({ failedAt }) => failedAt === undefined);
}

/**
 * Progress of a verification, if more copies have been read than it records; `undefined` otherwise. Copies are read for hours, and
 * users want to see progress.
 */
export function verificationProgress(
  answers: readonly { readonly replica: Replica; readonly answer: CopyAnswer }[],
  known: VolumeVerification,
): VolumeVerification | undefined {
  const read = answers.filter(({ answer }) => answer !== 'running' && answer !== 'silent');
  if (read.length <= known.replicas.length) return undefined;
  const replicas = read.map(({ replica, answer }) => resultOf(replica, answer));
  return { ...known, replicas, message: `${read.length} of ${answers.length} copies read` };
}

/**
 * Result of a verification; `undefined` while a copy is being read and there is time left. Consequences: `follow-verification.ts`.
 */
export function concludeVerification(
  answers: readonly { readonly replica: Replica; readonly answer: CopyAnswer }[],
  requestedAt: Date,
  now: Date,
  isScheduled = false,
): VolumeVerification | undefined {
  const isLate = now.getTime() - requestedAt.getTime() > (isScheduled ? SCHEDULED_MS_MAX : VERIFY_MS_MAX);
  if (!isLate && answers.some(({ answer }) => answer === 'running')) return undefined;
  const replicas = answers.map(({ replica, answer }) => resultOf(replica, answer));
  return { requestedAt, finishedAt: now, replicas, ...verdictOf(replicas) };
}

function resultOf({ id: replicaId }: Replica, answer: CopyAnswer): CopyResult {
  if (answer === 'running') return unread(replicaId, 'it was not read in time');
  if (answer === 'silent') return unread(replicaId, 'its node does not answer');
  if ('error' in answer) return unread(replicaId, answer.error);
  return { replicaId, checksum: answer.checksum, writtenBytes: answer.writtenBytes, error: null };
}

function unread(replicaId: Replica['id'], error: string): CopyResult {
  return { replicaId, checksum: null, writtenBytes: null, error };
}

function verdictOf(results: readonly CopyResult[]): Pick<VolumeVerification, 'state' | 'equal' | 'message'> {
  const checksums = results.flatMap(({ checksum }) => (checksum === null ? [] : [checksum]));
  if (checksums.length === 0) return { state: 'failed', equal: undefined, message: 'no copy could be read' };
  const equal = new Set(checksums).size === 1;
  const compared = `${checksums.length} of ${results.length} copies compared`;
  return { state: 'done', equal, message: `${compared}: ${equal ? 'all equal' : 'they differ'}` };
}
