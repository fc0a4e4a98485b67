import { isNativeError } from 'node:util/types';
import { type PassedQuota, quotaRefusal } from '@holdfast/access/quota.js';
import { faultOf } from '@holdfast/control/use-cases/use-case.js';
import { type FaultCode, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import pg from 'pg';

/** Error that the trigger of quotas raises (migration `quotas`), with the numbers as JSON in its detail. */
const QUOTA_PASSED = 'HQ001';

/** Another transaction conflicted, or a referenced row is gone: reload and decide again. */
const CONFLICTS = new Set(['40001', '40P01', '55P03', '23001', '23503', '23505']);
/** Postgres is stopping or starting, or accepts no more connections. Class 08 is about broken connections. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '53300', '57014', '25P03']);
/** A write found no space. Nothing of its transaction is kept. */
const DISK_FULL = '53100';
/** No listener, no machine, or an unknown name: when a container goes, so does its name. */
const BROKEN_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Driver errors for a connection that has ended, or was not available in time. */
const BROKEN_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|not queryable/;

/** Objects that users name, and the message for a taken name. */
const TAKEN = {
  snapshot: { code: 'snapshot.name_taken', message: 'the volume has a snapshot of that name' },
  volume: { code: 'volume.name_taken', message: 'the project has a volume of that name' },
  cluster: { code: 'cluster.name_taken', message: 'there is a cluster of that name' },
  project: { code: 'project.name_taken', message: 'there is a project of that name' },
  organization: { code: 'organization.name_taken', message: 'there is an organization of that name' },
  'service account': {
    code: 'service_account.name_taken',
    message: 'there is a service account of that name',
  },
} as const satisfies Record<string, { code: FaultCode; message: string }>;

/** Unique constraints that users can run into by a name they choose. */
const NAME_CONSTRAINTS: Readonly<Record<string, keyof typeof TAKEN>> = {
  snapshot_live_name_key: 'snapshot',
  volume_project_id_name_key: 'volume',
  cluster_organization_id_name_key: 'cluster',
  project_organization_id_name_key: 'project',
  organization_name_key: 'organization',
  app_user_service_of_name_key: 'service account',
};

/** An error of Postgres or the connection as a fault that callers know; anything unexpected stays as it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof StorageFault || !isNativeError(error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof pg.DatabaseError) {
    if (code === QUOTA_PASSED) return quotaPassed(error);
    const named = error.constraint === undefined ? undefined : NAME_CONSTRAINTS[error.constraint];
    if (code === '23505' && named !== undefined) return nameTaken(named, error);
    if (code === DISK_FULL) return full(error);
    if (CONFLICTS.has(code)) return conflict(error.message, error);
    return UNAVAILABLE.has(code) || code.startsWith('08') ? unavailable(error) : error;
  }
  return BROKEN_SOCKET.has(code) || BROKEN_CONNECTION.test(error.message) ? unavailable(error) : error;
}

/**
 * Error after a change may have been made. If the database did not answer, its caller must know that the change may exist all the
 * same.
 */
export function unsureAfter(error: unknown): unknown {
  const known = translateError(error);
  if (!isFault(known, 'store.unavailable')) return known;
  return new StorageFault('store.unavailable', {
    ...known.details,
    publicMessage: 'the database stopped answering while the change was being stored: it may have been made',
    cures: ['repeat it with the same Idempotency-Key', 'read what it was to change before it is made again'],
    cause: known,
  });
}

/** The detail is written by our own trigger, of this shape. */
function quotaPassed({ detail = '{}' }: pg.DatabaseError): StorageFault {
  const passed: PassedQuota = JSON.parse(detail);
  return faultOf(quotaRefusal(passed));
}

export function nameTaken(kind: keyof typeof TAKEN, cause?: unknown): StorageFault {
  const { code, message } = TAKEN[kind];
  return new StorageFault(code, {
    publicMessage: message,
    errors: [{ pointer: '/name', detail: message }],
    cause,
  });
}

export function conflict(reason: string, cause?: unknown): StorageFault {
  return new StorageFault('store.conflict', {
    publicMessage: 'it was changed at the same moment; try again',
    context: { reason },
    cause,
  });
}

function full(cause: Error): StorageFault {
  return new StorageFault('store.full', {
    publicMessage: 'the disk of the database is full: nothing was changed',
    cures: ['free space on the disk that Postgres writes to, or enlarge it'],
    context: { reason: cause.message },
    cause,
  });
}

function unavailable(cause: Error): StorageFault {
  return new StorageFault('store.unavailable', {
    publicMessage: 'the database can not be reached',
    context: { reason: cause.message },
    cause,
  });
}
