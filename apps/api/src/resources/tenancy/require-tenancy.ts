/** Reads the object in an address, or refuses the request if the caller does not see it. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { InvitationId, OrganizationId, ProjectId, UserId } from '@holdfast/core/model/ids.js';
import { findInvitation, type InvitationRow } from '@holdfast/database/queries/invitations.js';
import { findMember, type MemberRow } from '@holdfast/database/queries/members.js';
import {
  findOrganization,
  findProject,
  type OrganizationRow,
  type ProjectRow,
} from '@holdfast/database/queries/tenancy.js';
import type { Sql } from '@holdfast/database/sql/scope.js';

export async function requireOrganization(sql: Sql, id: OrganizationId): Promise<OrganizationRow> {
  return there(await findOrganization(sql, id), 'organization', id);
}

export async function requireProject(sql: Sql, id: ProjectId): Promise<ProjectRow> {
  return there(await findProject(sql, id), 'project', id);
}

export async function requireMember(sql: Sql, id: UserId): Promise<MemberRow> {
  return there(await findMember(sql, id), 'member', id);
}

export async function requireInvitation(sql: Sql, id: InvitationId): Promise<InvitationRow> {
  return there(await findInvitation(sql, id), 'invitation', id);
}

/** @throws StorageFault `….not_found` */
export function there<Row>(
  row: Row | undefined,
  kind: 'organization' | 'project' | 'member' | 'invitation' | 'service_account',
  id: string,
): Row {
  if (row !== undefined) return row;
  throw new StorageFault(`${kind}.not_found`, {
    publicMessage: `there is no ${kind.replace('_', ' ')} ${id}`,
  });
}
