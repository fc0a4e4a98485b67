import type { findMember, findOrganization, findProject } from '@holdfast/database/queries/tenancy.js';

type Organization = NonNullable<Awaited<ReturnType<typeof findOrganization>>>;
type Project = NonNullable<Awaited<ReturnType<typeof findProject>>>;
type Member = NonNullable<Awaited<ReturnType<typeof findMember>>>;

export function organizationView({ id, name, created_at }: Organization) {
  return { id, name, createdAt: isoOf(created_at) };
}

export function projectView({ id, name, version, created_at }: Project) {
  return { id, name, version, createdAt: isoOf(created_at) };
}

export function memberView({ user_id, email, name, role, created_at }: Member) {
  return { userId: user_id, email, name, role, createdAt: isoOf(created_at) };
}

export function isoOf(date: Date): string {
  return date.toISOString();
}
