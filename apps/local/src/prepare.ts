/** Entry of a one-time run that prepares a database for this version, for deployments other than the local stack. */
import fs from 'node:fs';
import { z } from 'zod';
import { prepareDatabase } from './prepare-database.js';

/** A secret of the deployment. Shorter ones can be guessed. */
const secret = z.string().min(16);

const environmentSchema = z.object({
  DATABASE_URL: z.string().url(),
  HOLDFAST_ADMIN_PASSWORD: secret,
  HOLDFAST_ADMIN_TOKEN: secret,
  HOLDFAST_AGENT_TOKEN: secret,
  /** Where agents read their join token: that secret, with the fingerprint of the certificate authority. */
  HOLDFAST_AGENT_TOKEN_FILE: z.string().startsWith('/').optional(),
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
const secrets = {
  password: env.HOLDFAST_ADMIN_PASSWORD,
  token: env.HOLDFAST_ADMIN_TOKEN,
  agentToken: env.HOLDFAST_AGENT_TOKEN,
};
const prepared = await prepareDatabase(env.DATABASE_URL, secrets, {
  api: env.HOLDFAST_DATABASE_API_PASSWORD,
  system: env.HOLDFAST_DATABASE_SYSTEM_PASSWORD,
});
if (env.HOLDFAST_AGENT_TOKEN_FILE !== undefined) {
  fs.writeFileSync(env.HOLDFAST_AGENT_TOKEN_FILE, `${prepared.joinToken}\n`, { mode: 0o600 });
}
console.log(`holdfast: ${prepared.migrations.length} migrations applied; ${prepared.email} may sign in`);
