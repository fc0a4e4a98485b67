/** Traits of a fault: what its caller can do about it. Adapters map it to HTTP, GraphQL, exit codes and job outcomes. */
export type FaultTraits = {
  kind:
    | 'invalid' // the request itself is wrong: 422 (or 400 where it can't be read)
    | 'unauthenticated' // 401
    | 'forbidden' // 403
    | 'not-found' // 404
    | 'conflict' // 409: the state of things says no
    | 'precondition' // 412: another request changed it meanwhile
    | 'too-large' // 413
    | 'limited' // 429
    | 'quota' // 429 too: the request exceeds a quota
    | 'unavailable'; // 503: try again later
  retry: 'never' | 'backoff';
};

/** Every failure we expect. Codes are API: add freely, never rename or reuse one. */
export const FAULTS = {
  'request.invalid': { kind: 'invalid', retry: 'never' },
  'request.too_large': { kind: 'too-large', retry: 'never' },
  'request.not_found': { kind: 'not-found', retry: 'never' },
  'request.method_not_allowed': { kind: 'invalid', retry: 'never' },
  'request.stale': { kind: 'precondition', retry: 'never' },
  'request.rate_limited': { kind: 'limited', retry: 'backoff' },
  'request.timed_out': { kind: 'unavailable', retry: 'never' },
  'idempotency.key_reused': { kind: 'invalid', retry: 'never' },
  'idempotency.secret_not_kept': { kind: 'conflict', retry: 'never' },
  'idempotency.in_flight': { kind: 'conflict', retry: 'backoff' },
  'auth.missing': { kind: 'unauthenticated', retry: 'never' },
  'auth.invalid': { kind: 'unauthenticated', retry: 'never' },
  'auth.forbidden': { kind: 'forbidden', retry: 'never' },
  'auth.no_provider': { kind: 'not-found', retry: 'never' },
  'sign_in_provider.not_found': { kind: 'not-found', retry: 'never' },
  'auth.provider_failed': { kind: 'unavailable', retry: 'backoff' },
  'cluster.not_found': { kind: 'not-found', retry: 'never' },
  'cluster.not_empty': { kind: 'conflict', retry: 'never' },
  'cluster.name_taken': { kind: 'conflict', retry: 'never' },
  'project.not_found': { kind: 'not-found', retry: 'never' },
  'project.name_taken': { kind: 'conflict', retry: 'never' },
  'project.not_empty': { kind: 'conflict', retry: 'never' },
  'node.not_found': { kind: 'not-found', retry: 'never' },
  'node.in_use': { kind: 'conflict', retry: 'never' },
  'node.holds_only_copy': { kind: 'conflict', retry: 'never' },
  'node.name_taken': { kind: 'conflict', retry: 'backoff' },
  'node.not_ready': { kind: 'conflict', retry: 'backoff' },
  'node.last_ready': { kind: 'conflict', retry: 'never' },
  'node.draining': { kind: 'conflict', retry: 'never' },
  'node.cordoned': { kind: 'conflict', retry: 'never' },
  'node.identity_refused': { kind: 'unauthenticated', retry: 'never' },
  'node.address_refused': { kind: 'forbidden', retry: 'never' },
  'node.agent_newer': { kind: 'conflict', retry: 'backoff' },
  'node.agent_older': { kind: 'conflict', retry: 'backoff' },
  'node.clock_off': { kind: 'conflict', retry: 'backoff' },
  'join_token.not_found': { kind: 'not-found', retry: 'never' },
  'join_token.refused': { kind: 'forbidden', retry: 'never' },
  'webhook.not_found': { kind: 'not-found', retry: 'never' },
  'webhook.too_many': { kind: 'conflict', retry: 'never' },
  'alert.not_found': { kind: 'not-found', retry: 'never' },
  'silence.not_found': { kind: 'not-found', retry: 'never' },
  'silence.too_many': { kind: 'conflict', retry: 'never' },
  'delivery.not_found': { kind: 'not-found', retry: 'never' },
  'delivery.waiting': { kind: 'conflict', retry: 'never' },
  'disk.not_found': { kind: 'not-found', retry: 'never' },
  'disk.exists': { kind: 'conflict', retry: 'never' },
  'disk.not_ready': { kind: 'conflict', retry: 'backoff' },
  'disk.in_use': { kind: 'conflict', retry: 'never' },
  'disk.last_ready': { kind: 'conflict', retry: 'never' },
  'volume.not_found': { kind: 'not-found', retry: 'never' },
  'volume.name_taken': { kind: 'conflict', retry: 'never' },
  'volume.in_use': { kind: 'conflict', retry: 'backoff' },
  'volume.attached': { kind: 'conflict', retry: 'never' },
  'volume.attached_elsewhere': { kind: 'conflict', retry: 'never' },
  'volume.strict_local': { kind: 'conflict', retry: 'never' },
  'volume.not_attached': { kind: 'conflict', retry: 'never' },
  'volume.busy': { kind: 'conflict', retry: 'backoff' },
  'volume.expansion_impossible': { kind: 'conflict', retry: 'never' },
  'volume.deleting': { kind: 'conflict', retry: 'never' },
  'volume.faulted': { kind: 'conflict', retry: 'never' },
  'volume.not_faulted': { kind: 'conflict', retry: 'never' },
  'volume.not_verified': { kind: 'conflict', retry: 'never' },
  'volume.record_higher': { kind: 'conflict', retry: 'never' },
  'volume.holder_unreachable': { kind: 'conflict', retry: 'backoff' },
  'volume.copies_missing': { kind: 'conflict', retry: 'backoff' },
  'replica.not_found': { kind: 'not-found', retry: 'never' },
  'replica.last_healthy_copy': { kind: 'conflict', retry: 'never' },
  'replica.not_full': { kind: 'conflict', retry: 'never' },
  'replica.place_taken': { kind: 'conflict', retry: 'never' },
  'replica.no_place': { kind: 'conflict', retry: 'never' },
  'recovery.not_found': { kind: 'not-found', retry: 'never' },
  'recovery.refused': { kind: 'conflict', retry: 'never' },
  'orphan.not_found': { kind: 'not-found', retry: 'never' },
  'rebuild.not_found': { kind: 'not-found', retry: 'never' },
  'rebuild.finished': { kind: 'conflict', retry: 'never' },
  'operation.not_found': { kind: 'not-found', retry: 'never' },
  'operation.not_cancellable': { kind: 'conflict', retry: 'never' },
  'snapshot.not_found': { kind: 'not-found', retry: 'never' },
  'snapshot.name_taken': { kind: 'conflict', retry: 'never' },
  'snapshot.not_hashed': { kind: 'conflict', retry: 'backoff' },
  'snapshot.limit_reached': { kind: 'conflict', retry: 'never' },
  'snapshot.in_use': { kind: 'conflict', retry: 'never' },
  'recurring_snapshot.not_found': { kind: 'not-found', retry: 'never' },
  'setting.not_found': { kind: 'not-found', retry: 'never' },
  'setting.invalid': { kind: 'invalid', retry: 'never' },
  'token.not_found': { kind: 'not-found', retry: 'never' },
  'organization.not_found': { kind: 'not-found', retry: 'never' },
  'organization.name_taken': { kind: 'conflict', retry: 'never' },
  'member.not_found': { kind: 'not-found', retry: 'never' },
  'member.exists': { kind: 'conflict', retry: 'never' },
  'member.last_owner': { kind: 'conflict', retry: 'never' },
  'member.no_owner': { kind: 'conflict', retry: 'never' },
  'service_account.not_found': { kind: 'not-found', retry: 'never' },
  'service_account.name_taken': { kind: 'conflict', retry: 'never' },
  'service_account.too_many': { kind: 'conflict', retry: 'never' },
  'invitation.not_found': { kind: 'not-found', retry: 'never' },
  'invitation.needs_session': { kind: 'forbidden', retry: 'never' },
  'device.not_found': { kind: 'not-found', retry: 'never' },
  'device.waiting': { kind: 'conflict', retry: 'backoff' },
  'first_link.not_found': { kind: 'not-found', retry: 'never' },
  'grant.not_found': { kind: 'not-found', retry: 'never' },
  'grant.exists': { kind: 'conflict', retry: 'never' },
  'grant.in_use': { kind: 'conflict', retry: 'never' },
  'quota.exceeded': { kind: 'quota', retry: 'never' },
  'placement.impossible': { kind: 'invalid', retry: 'never' },
  'compute.busy': { kind: 'unavailable', retry: 'backoff' },
  'compute.too_costly': { kind: 'invalid', retry: 'never' },
  'fleet.inconsistent': { kind: 'invalid', retry: 'never' },
  'store.conflict': { kind: 'conflict', retry: 'backoff' },
  'store.unavailable': { kind: 'unavailable', retry: 'backoff' },
  'store.full': { kind: 'unavailable', retry: 'backoff' },
  'agent.unreachable': { kind: 'unavailable', retry: 'backoff' },
  'agent.refused': { kind: 'conflict', retry: 'backoff' },
  'agent.state_damaged': { kind: 'conflict', retry: 'never' },
  'engine.not_found': { kind: 'not-found', retry: 'never' },
  'engine.stale_epoch': { kind: 'conflict', retry: 'never' },
  'engine.record_refused': { kind: 'forbidden', retry: 'never' },
  'engine.no_replica': { kind: 'unavailable', retry: 'backoff' },
  'engine.busy': { kind: 'conflict', retry: 'backoff' },
  'replica.corrupt': { kind: 'conflict', retry: 'never' },
  'replica.only_current': { kind: 'conflict', retry: 'backoff' },
  'replica.in_use': { kind: 'conflict', retry: 'backoff' },
  'replica.rebuilding': { kind: 'conflict', retry: 'backoff' },
  'replica.state_changed': { kind: 'conflict', retry: 'never' },
  'replica.too_many_layers': { kind: 'conflict', retry: 'never' },
  'rebuild.failed': { kind: 'conflict', retry: 'backoff' },
  'rebuild.cancelled': { kind: 'conflict', retry: 'never' },
  'rebuild.contents_differ': { kind: 'conflict', retry: 'backoff' },
  'replica.format_unknown': { kind: 'conflict', retry: 'never' },
  'disk.no_space': { kind: 'unavailable', retry: 'backoff' },
  'disk.file_too_large': { kind: 'conflict', retry: 'never' },
  'disk.failed': { kind: 'unavailable', retry: 'backoff' },
  'disk.wrong_identity': { kind: 'conflict', retry: 'never' },
  'backup.target_unreachable': { kind: 'unavailable', retry: 'backoff' },
  'backup.target_refused': { kind: 'forbidden', retry: 'never' },
  'backup.target_full': { kind: 'unavailable', retry: 'backoff' },
  'backup.target_unsuitable': { kind: 'conflict', retry: 'never' },
  'backup.repository_not_found': { kind: 'not-found', retry: 'never' },
  'backup.repository_exists': { kind: 'conflict', retry: 'never' },
  'backup.repository_newer': { kind: 'conflict', retry: 'never' },
  'backup.repository_foreign': { kind: 'forbidden', retry: 'never' },
  'backup.repository_rolled_back': { kind: 'conflict', retry: 'never' },
  'backup.wrong_key': { kind: 'forbidden', retry: 'never' },
  'backup.damaged': { kind: 'conflict', retry: 'never' },
  'backup.not_found': { kind: 'not-found', retry: 'never' },
  'backup.locked': { kind: 'conflict', retry: 'never' },
  'backup.busy': { kind: 'conflict', retry: 'backoff' },
  'backup.too_large': { kind: 'too-large', retry: 'never' },
  'longhorn_backup.not_found': { kind: 'not-found', retry: 'never' },
  'longhorn_backup.unsupported': { kind: 'invalid', retry: 'never' },
  'longhorn_backup.damaged': { kind: 'conflict', retry: 'never' },
  'longhorn_replica.unusable': { kind: 'conflict', retry: 'never' },
} as const satisfies Record<string, FaultTraits>;

/** HTTP status of each kind of fault, as the API and the agents answer with it. */
export const HTTP_STATUS: Readonly<Record<FaultTraits['kind'], number>> = {
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  precondition: 412,
  'too-large': 413,
  limited: 429,
  quota: 429,
  unavailable: 503,
};

export type FaultCode = keyof typeof FAULTS;

/** One wrong part of a request: a JSON Pointer into the body (or a query parameter's name) and its error. */
export type FaultItem = { pointer: string; detail: string };

export type FaultDetails = {
  /** Safe to show to users who may see the resource. */
  publicMessage: string;
  /** The wrong parts of the request, where there are some. */
  errors?: readonly FaultItem[];
  /** Cure, in words an operator can act on. */
  cures?: readonly string[];
  /** When to try again, for what comes of limits; left out: soon. */
  retryAfterSeconds?: number;
  /** For logs only: ids, addresses, sizes. */
  context?: Record<string, string | number | boolean | null>;
  cause?: unknown;
};

/** An expected failure: the input, the fleet or a peer said no. Never our own mistake. */
export class StorageFault extends Error {
  override readonly name = 'StorageFault';
  readonly traits: FaultTraits;

  constructor(
    readonly code: FaultCode,
    readonly details: FaultDetails,
  ) {
    super(details.publicMessage, { cause: details.cause });
    this.traits = FAULTS[code];
  }
}

export function isFault(error: unknown, code?: FaultCode): error is StorageFault {
  return error instanceof StorageFault && (code === undefined || error.code === code);
}

/** A code from a message. @param otherwise replaces codes that this version does not know */
export function faultCodeOf(code: string, otherwise: FaultCode): FaultCode {
  // The cast follows the check: the code is one of the table's keys.
  return Object.hasOwn(FAULTS, code) ? (code as FaultCode) : otherwise;
}

/** The highest epoch that the refusing copy or engine was opened at; `undefined` where it did not say. */
export function newestEpochOf(error: unknown): number | undefined {
  if (!isFault(error, 'engine.stale_epoch')) return undefined;
  const newest = error.details.context?.newest;
  return typeof newest === 'number' ? newest : undefined;
}

/** A broken invariant. Caught only at the process edge, which logs it and answers 500. */
export class Bug extends Error {
  override readonly name = 'Bug';
}

export function assertNever(value: never): never {
  throw new Bug(`unhandled variant: ${JSON.stringify(value)}`);
}
