import type { InvitationRow } from '@holdfast/database/queries/invitations.js';
import type { MemberRow, ProjectMemberRow } from '@holdfast/database/queries/members.js';
import type { OrganizationRow, ProjectRow } from '@holdfast/database/queries/tenancy.js';

export function namedView<Row extends OrganizationRow | ProjectRow>({ id, name, version, createdAt }: Row) {
  return { id, name, version, createdAt: isoOf(createdAt) };
}

export function memberView<Row extends MemberRow | ProjectMemberRow>(row: Row) {
  const { userId, email, name, isServiceAccount, isManaged, version, createdAt } = row;
  const role: Row['role'] = row.role;
  return { userId, email, name, role, isServiceAccount, isManaged, version, createdAt: isoOf(createdAt) };
}

export function invitationView({ id, email, role, invitedBy, createdAt, expiresAt }: InvitationRow) {
  return { id, email, role, invitedBy, createdAt: isoOf(createdAt), expiresAt: isoOf(expiresAt) };
}

export function isoOf(date: Date): string {
  return date.toISOString();
}
