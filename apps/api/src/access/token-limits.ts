/** Limits of a token beside its role: allowed actions, objects and source addresses. Tokens created with it inherit them. */
import net from 'node:net';
import { type Action, isAction } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, ProjectId } from '@holdfast/core/model/ids.js';
import type { TokenLimitsRow } from '@holdfast/database/queries/tokens.js';
import { isWithin } from '@holdfast/identity/address-ranges.js';

export type TokenLimits = {
  readonly readOnly: boolean;
  /** `undefined`: all that the role allows. */
  readonly actions: readonly Action[] | undefined;
  readonly clusterIds: readonly ClusterId[] | undefined;
  readonly projectIds: readonly ProjectId[] | undefined;
  /** Networks (CIDR) or single addresses; `undefined`: anywhere. */
  readonly addressRanges: readonly string[] | undefined;
};

export function limitsOf(row: TokenLimitsRow): TokenLimits {
  return {
    readOnly: row.read_only,
    actions: row.actions?.filter(isAction),
    clusterIds: row.cluster_ids ?? undefined,
    projectIds: row.project_ids ?? undefined,
    addressRanges: row.address_ranges ?? undefined,
  };
}

/** @throws StorageFault `auth.forbidden` for a token that is used from another address */
export function assertUsedFromWithin({ addressRanges }: TokenLimits, address: string): void {
  if (addressRanges === undefined || isWithin(address, addressRanges)) return;
  throw new StorageFault('auth.forbidden', {
    publicMessage: `this token can't be used from ${address}`,
    cures: ['use it from one of the address ranges that it was made for'],
  });
}

/**
 * The limits of a token that is created with another one: as requested, and within those of its parent.
 *
 * @throws StorageFault `auth.forbidden` for limits beyond its parent's
 */
export function limitsWithin(parent: TokenLimits, wanted: Partial<TokenLimits>): TokenLimits {
  return {
    readOnly: parent.readOnly || wanted.readOnly === true,
    actions: within('actions', parent.actions, wanted.actions),
    clusterIds: within('clusters', parent.clusterIds, wanted.clusterIds),
    projectIds: within('projects', parent.projectIds, wanted.projectIds),
    addressRanges: rangesWithin(parent.addressRanges, wanted.addressRanges),
  };
}

/**
 * For requests that give the caller the rights of another token.
 *
 * @throws StorageFault `auth.forbidden` when the caller's own token allows less
 */
export function assertNoFreer(own: TokenLimits, other: TokenLimits): void {
  if (own.readOnly && !other.readOnly) throw exceeding('the right to change things');
  for (const list of ['actions', 'clusterIds', 'projectIds', 'addressRanges'] as const) {
    if (own[list] !== undefined && other[list] === undefined) throw exceeding('fewer limits');
  }
  limitsWithin(own, other);
}

function within<Item extends string>(
  what: string,
  parent: readonly Item[] | undefined,
  wanted: readonly Item[] | undefined,
): readonly Item[] | undefined {
  if (parent === undefined || wanted === undefined) return wanted ?? parent;
  const beyond = wanted.filter((item) => !parent.includes(item));
  if (beyond.length === 0) return wanted;
  throw exceeding(`${what} ${beyond.join(', ')}`);
}

/** A range is within another one when its first address is, and it is no wider. */
function rangesWithin(
  parent: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
): readonly string[] | undefined {
  if (parent === undefined || wanted === undefined) return wanted ?? parent;
  const beyond = wanted.filter(
    (range) => !parent.some((outer) => isWithin(baseOf(range), [outer]) && widthOf(range) <= widthOf(outer)),
  );
  if (beyond.length === 0) return wanted;
  throw exceeding(`address ranges ${beyond.join(', ')}`);
}

function baseOf(range: string): string {
  return range.split('/')[0] ?? '';
}

/** Bits of the address that are open. */
function widthOf(range: string): number {
  const [base = '', prefix] = range.split('/');
  const bits = net.isIPv6(base) ? 128 : 32;
  return bits - Number(prefix ?? bits);
}

function exceeding(what: string): StorageFault {
  return new StorageFault('auth.forbidden', {
    publicMessage: `the token would have ${what}, which the one that makes it has not`,
    cures: ['ask for what your own token has, or sign in'],
  });
}
