/** Entry of a one-time run that prepares a database for this version, for deployments other than the local stack. */
import fs from 'node:fs';
import path from 'node:path';
import { databaseTrouble } from '@holdfast/database/sql/connection-trouble.js';
import { z } from 'zod';
import { prepareDatabase, prepareFreshDatabase, prepareNodes, withFingerprint } from './prepare-database.js';

/** A secret of the deployment. Shorter ones can be guessed. */
const secret = z.string().min(16);

/** Compose passes a variable that is not set as an empty one. */
function leftOut<Schema extends z.ZodType>(schema: Schema) {
  return z.union([z.literal('').transform(() => undefined), schema.optional()]);
}

const environmentSchema = z.object({
  DATABASE_URL: z.string().url(),
  /** Of the first administrator. Left out: there is none, and a one-time link is printed that makes the first account. */
  HOLDFAST_ADMIN_PASSWORD: leftOut(secret),
  HOLDFAST_ADMIN_TOKEN: leftOut(secret),
  /** Where users' browsers find the console: what the link begins with. */
  HOLDFAST_CONSOLE_URL: leftOut(z.url()).transform((url) => url ?? 'http://127.0.0.1:7401'),
  /** Lets any new nodes join, for deployments that can't give each node a token of its own. */
  HOLDFAST_AGENT_TOKEN: leftOut(secret),
  /** Where agents read their join token: that secret, with the fingerprint of the certificate authority. */
  HOLDFAST_AGENT_TOKEN_FILE: z.string().startsWith('/').optional(),
  /**
   * Names of nodes, separated by commas: each one that has not joined yet gets a join token of its own, good once and for an hour.
   */
  HOLDFAST_JOIN_NODES: leftOut(z.string().regex(/^[a-z0-9-]+(,[a-z0-9-]+)*$/, 'names of nodes by commas')),
  /** Holds a folder for each of these nodes, in which the file `token` is made. */
  HOLDFAST_JOIN_DIR: z.string().startsWith('/').optional(),
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
const {
  HOLDFAST_ADMIN_PASSWORD: password,
  HOLDFAST_ADMIN_TOKEN: token,
  HOLDFAST_AGENT_TOKEN: agentToken,
} = env;
const passwords = {
  api: env.HOLDFAST_DATABASE_API_PASSWORD,
  system: env.HOLDFAST_DATABASE_SYSTEM_PASSWORD,
};
if ((password === undefined) !== (token === undefined)) {
  console.error('holdfast: set both HOLDFAST_ADMIN_PASSWORD and HOLDFAST_ADMIN_TOKEN, or neither of them');
  process.exit(2);
}
const trouble = await databaseTrouble(env.DATABASE_URL);
if (trouble !== undefined) {
  console.error(`holdfast: ${trouble}`);
  process.exit(2);
}
const { prepared, told } =
  password === undefined || token === undefined ? await withLink() : await withAdmin({ password, token });
if (env.HOLDFAST_AGENT_TOKEN_FILE !== undefined && agentToken !== undefined) {
  const text = withFingerprint(agentToken, prepared.fingerprint);
  fs.writeFileSync(env.HOLDFAST_AGENT_TOKEN_FILE, `${text}\n`, { mode: 0o600 });
}
if (env.HOLDFAST_JOIN_NODES !== undefined && env.HOLDFAST_JOIN_DIR !== undefined) {
  const tokens = await prepareNodes(prepared, env.HOLDFAST_JOIN_NODES.split(','));
  for (const [name, text] of tokens) {
    fs.writeFileSync(path.join(env.HOLDFAST_JOIN_DIR, name, 'token'), `${text}\n`, { mode: 0o600 });
  }
}
console.log(`holdfast: ${prepared.migrations.length} migrations applied; ${told}`);

async function withAdmin(admin: { password: string; token: string }) {
  const prepared = await prepareDatabase(env.DATABASE_URL, { ...admin, agentToken }, passwords);
  return { prepared, told: `${prepared.email} may sign in` };
}

async function withLink() {
  const prepared = await prepareFreshDatabase(env.DATABASE_URL, agentToken, passwords);
  const { firstSecret } = prepared;
  // After the hash sign: browsers keep that to themselves, so no log on the way holds it.
  const link = new URL(`/first-account#${firstSecret}`, env.HOLDFAST_CONSOLE_URL).href;
  const how = `make the first account within an hour at\n  ${link}\nrun this again for another link`;
  return { prepared, told: firstSecret === undefined ? 'its owners may sign in' : how };
}
