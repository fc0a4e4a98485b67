import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles, type RoleUrls } from '@holdfast/database/roles.js';
import { type LocalSecrets, type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';

export type PreparedDatabase = RoleUrls &
  Pick<LocalSeed, 'organizationId' | 'projectId' | 'clusterId' | 'email'>;

/** Prepares a database: newest schema, roles that can sign in, and the objects that a stack starts with. Repeatable. */
export async function prepareDatabase(ownerUrl: string, secrets: LocalSecrets): Promise<PreparedDatabase> {
  await migrate(ownerUrl);
  const urls = await prepareRoles(ownerUrl);
  const { organizationId, projectId, clusterId, email } = await seedLocal(urls.systemUrl, secrets);
  return { ...urls, organizationId, projectId, clusterId, email };
}
