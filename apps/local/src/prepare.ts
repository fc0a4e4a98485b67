/** Entry of a one-time run that prepares a database for this version, for deployments other than the local stack. */
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { seedLocal } from '@holdfast/database/seed-local.js';
import { z } from 'zod';

/** A secret of the deployment. Shorter ones can be guessed. */
const secret = z.string().min(16);

const environmentSchema = z.object({
  DATABASE_URL: z.string().url(),
  HOLDFAST_ADMIN_PASSWORD: secret,
  HOLDFAST_ADMIN_TOKEN: secret,
  HOLDFAST_AGENT_TOKEN: secret,
  HOLDFAST_DATABASE_API_PASSWORD: secret,
  HOLDFAST_DATABASE_SYSTEM_PASSWORD: secret,
});

const parsed = environmentSchema.safeParse(process.env);
if (!parsed.success) {
  const rows = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  console.error(`holdfast: the environment is not usable:\n${rows.join('\n')}`);
  process.exit(2);
}

const env = parsed.data;
const applied = await migrate(env.DATABASE_URL);
const urls = await prepareRoles(env.DATABASE_URL, {
  api: env.HOLDFAST_DATABASE_API_PASSWORD,
  system: env.HOLDFAST_DATABASE_SYSTEM_PASSWORD,
});
const { email } = await seedLocal(urls.systemUrl, {
  password: env.HOLDFAST_ADMIN_PASSWORD,
  token: env.HOLDFAST_ADMIN_TOKEN,
  agentToken: env.HOLDFAST_AGENT_TOKEN,
});
console.log(`holdfast: ${applied.length} migrations applied; ${email} may sign in`);
