/**
 * Identifiers. Each kind of thing has its own branded string type, so that a replica's id can't be passed where a
 * disk's is wanted. They are checked at the edge of each process and trusted inside.
 */
declare const brand: unique symbol;
type Id<Kind extends string> = string & { readonly [brand]: Kind };

export type OrganizationId = Id<'organization'>;
export type UserId = Id<'user'>;
export type ProjectId = Id<'project'>;
export type TokenId = Id<'token'>;
export type InvitationId = Id<'invitation'>;
export type ClusterId = Id<'cluster'>;
export type GrantId = Id<'grant'>;
export type NodeId = Id<'node'>;
export type DiskId = Id<'disk'>;
export type VolumeId = Id<'volume'>;
export type ReplicaId = Id<'replica'>;
export type SnapshotId = Id<'snapshot'>;
export type RebuildId = Id<'rebuild'>;
export type OrphanId = Id<'orphan'>;
export type JoinTokenId = Id<'join-token'>;
export type WebhookId = Id<'webhook'>;
export type DeliveryId = Id<'delivery'>;
export type AlertId = Id<'alert'>;
export type SilenceId = Id<'silence'>;

export type AnyId =
  | OrganizationId
  | UserId
  | ProjectId
  | TokenId
  | InvitationId
  | ClusterId
  | GrantId
  | NodeId
  | DiskId
  | VolumeId
  | ReplicaId
  | SnapshotId
  | RebuildId
  | OrphanId
  | JoinTokenId
  | WebhookId
  | DeliveryId
  | AlertId
  | SilenceId;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for the one spelling of a UUID that Holdfast gives out: lower case with dashes. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/**
 * Brands a string that comes from storage or from a validated request.
 *
 * The caller has checked it: the cast is the one place where a plain string becomes an id.
 */
export function asId<T extends AnyId>(text: string): T {
  return text as T;
}

/** Orders ids by byte value: the last tie-break of every decision, so it must not depend on a locale. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
