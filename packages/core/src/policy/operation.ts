/**
 * Operations: work that takes longer than a request, as its callers follow it. None has a row of its own while it runs: the row
 * of what it works on stands for it (docs/adr/0196-operations-are-a-view.md).
 */

import type { ClusterId, NodeId, VolumeId } from '../model/ids.js';
import { REBUILD_PHASES } from '../model/rebuild.js';

export const OPERATION_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

export const OPERATION_TARGETS = ['rebuild', 'volume', 'replica', 'node', 'disk', 'orphan'] as const;
export type OperationTarget = (typeof OPERATION_TARGETS)[number];

export const PROGRESS_UNITS = ['bytes', 'copies', 'percent'] as const;
export type ProgressUnit = (typeof PROGRESS_UNITS)[number];

/** Permissions that cancelling takes; `packages/access` says who has them. */
type Cancelling = 'rebuild:write' | 'volume:write' | 'node:write';

type OperationFacts = {
  /** What it goes through, in order. */
  readonly steps: readonly string[];
  /** What a caller needs to be allowed to cancel it; left out: it can not be cancelled. */
  readonly cancelledBy?: Cancelling;
};

export const OPERATION_KINDS = {
  rebuild: { steps: REBUILD_PHASES, cancelledBy: 'rebuild:write' },
  purge: { steps: ['queued', 'running'] },
  revert: { steps: ['queued', 'running'] },
  expand: { steps: ['queued', 'running'], cancelledBy: 'volume:write' },
  clone: { steps: ['queued', 'running'] },
  verify: { steps: ['running'], cancelledBy: 'volume:write' },
  salvage: { steps: ['running'] },
  delete: { steps: ['running'] },
  move: { steps: ['copying', 'replacing'] },
  drain: { steps: ['draining', 'drained'], cancelledBy: 'node:write' },
  evict: { steps: ['running'], cancelledBy: 'node:write' },
  remove: { steps: ['queued', 'running'] },
} as const satisfies Record<string, OperationFacts>;

export type OperationKind = keyof typeof OPERATION_KINDS;

export function isOperationKind(text: string): text is OperationKind {
  return Object.hasOwn(OPERATION_KINDS, text);
}

export type Operation = {
  readonly id: string;
  readonly clusterId: ClusterId;
  readonly kind: OperationKind;
  readonly target: { readonly kind: OperationTarget; readonly id: string };
  readonly volumeId: VolumeId | undefined;
  readonly nodeId: NodeId | undefined;
  readonly state: OperationState;
  /** The step that it is at; empty where its state says all there is. */
  readonly phase: string;
  readonly progress: OperationProgress | undefined;
  /** What it waits for, or why it has failed; empty: nothing to say. */
  readonly message: string;
  readonly requestedAt: Date;
  /** `undefined`: it waits, or when it began is not recorded. */
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
};

export type OperationProgress = {
  readonly done: number | undefined;
  readonly total: number | undefined;
  readonly unit: ProgressUnit;
};

export type OperationStep = { readonly name: string; readonly state: 'done' | 'current' | 'pending' };

export function isEnded({ state }: Pick<Operation, 'state'>): boolean {
  return state !== 'queued' && state !== 'running';
}

/** What a caller must be allowed to do to cancel it; `undefined`: it can not be cancelled, or has ended. */
export function cancelledBy(operation: Pick<Operation, 'kind' | 'state'>): Cancelling | undefined {
  const facts: OperationFacts = OPERATION_KINDS[operation.kind];
  return isEnded(operation) ? undefined : facts.cancelledBy;
}

/** Its steps, each with how far it is. A step that an ended operation did not reach stays pending. */
export function operationSteps({
  kind,
  state,
  phase,
}: Pick<Operation, 'kind' | 'state' | 'phase'>): OperationStep[] {
  const { steps }: OperationFacts = OPERATION_KINDS[kind];
  if (state === 'succeeded') return steps.map((name) => ({ name, state: 'done' }));
  const known = steps.indexOf(phase === '' ? state : phase);
  // What waits on its way, as a drain that is blocked, is at its first step.
  const current = known === -1 && !isEnded({ state }) ? 0 : known;
  return steps.map((name, index) => {
    if (index < current) return { name, state: 'done' };
    return { name, state: index === current && !isEnded({ state }) ? 'current' : 'pending' };
  });
}

/** A year: longer is no answer. */
const ETA_MS_MAX = 365 * 24 * 3_600_000;
/** Rates fall when disks or networks are busy: nine of ten end within twice the even time. */
const P90_FACTOR = 2;

/** When it ends if it goes on as it went so far; `undefined` where that can't be told. */
export function operationEnd(
  { state, progress, startedAt }: Pick<Operation, 'state' | 'progress' | 'startedAt'>,
  now: Date,
): { readonly p50: Date; readonly p90: Date } | undefined {
  const { done = 0, total } = progress ?? {};
  if (state !== 'running' || startedAt === undefined || total === undefined || done <= 0) return undefined;
  const elapsedMs = now.getTime() - startedAt.getTime();
  const leftMs = Math.max(0, (elapsedMs * (total - done)) / done);
  if (leftMs > ETA_MS_MAX) return undefined;
  return { p50: new Date(now.getTime() + leftMs), p90: new Date(now.getTime() + leftMs * P90_FACTOR) };
}

/** The id of the operation: it has no other than its kind, its target and when it was asked for. */
export function operationId(kind: OperationKind, targetId: string, requestedAt: Date): string {
  return kind === 'rebuild' ? `rebuild-${targetId}` : `${kind}-${targetId}-${requestedAt.getTime()}`;
}

const OPERATION_ID =
  /^(?<kind>[a-z]+)-(?<target>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-\d{1,15})?$/;

/** The target that an id names, by which its row is found; `undefined`: it is no operation's id. */
export function targetOfOperation(id: string): string | undefined {
  return OPERATION_ID.exec(id)?.groups?.target;
}
