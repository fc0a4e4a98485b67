import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type PortPlan, portPlan } from './port-plan.js';

const SIZE = /^\d+([KMGT]iB?)?$/;
const SIZE_RULE = 'must be bytes, or a number with Ki, Mi, Gi or Ti';

/** Environment variables of `npm start`. External scripts rely on the names. */
const environmentSchema = z.object({
  HOLDFAST_HOME: z.string().min(1).optional(),
  // The block of 40 ports has to fit below 65536.
  HOLDFAST_PORT_BASE: z.coerce.number().int().min(1024).max(65_496).default(7400),
  /** Address that the API listens on. Not the loopback one where agents reach this machine over a network. */
  HOLDFAST_API_HOST: z.union([z.ipv4(), z.ipv6()]).default('127.0.0.1'),
  HOLDFAST_CONSOLE: z.enum(['on', 'off']).default('on'),
  /** Set by `npm run dev`: the console is compiled as it is used, and a service that has ended is started again within a second. */
  HOLDFAST_DEVELOPMENT: z.stringbool().default(false),
  // The port block has room for ten agents.
  HOLDFAST_AGENTS: z.coerce.number().int().min(0).max(10).default(3),
  HOLDFAST_DISK_SIZE: z
    .string()
    .transform((text) => text.replace(/\s/g, ''))
    .refine((text) => SIZE.test(text), SIZE_RULE)
    .default('20Gi'),
  /** Size of each node's block disk; without it nodes have folders only. */
  HOLDFAST_BLOCK_DISK_SIZE: z
    .string()
    .transform((text) => text.replace(/\s/g, ''))
    .refine((text) => SIZE.test(text), SIZE_RULE)
    .optional(),
  DATABASE_URL: z.string().url().optional(),
  REDIS_URL: z.string().url().optional(),
});

export type StackConfig = {
  repositoryRoot: string;
  home: string;
  ports: PortPlan;
  apiHost: string;
  console: boolean;
  /** Whether a developer changes the sources meanwhile. */
  development: boolean;
  agents: number;
  diskSize: string;
  /** Size of each node's block disk. `undefined`: none. */
  blockDiskSize: string | undefined;
  /** The owner's connection to a Postgres of the user's. `undefined`: the embedded one. */
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
};

const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** Reads the stack's configuration. @throws Error whose message is a table of the wrong variables */
export function readConfig(environment: NodeJS.ProcessEnv): StackConfig {
  const parsed = environmentSchema.safeParse(withoutEmpty(environment));
  if (!parsed.success) {
    const rows = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`the environment is not usable:\n${rows.join('\n')}`);
  }
  const env = parsed.data;
  return {
    repositoryRoot,
    home: path.resolve(expandHome(env.HOLDFAST_HOME ?? path.join(repositoryRoot, '.holdfast'))),
    ports: portPlan(env.HOLDFAST_PORT_BASE),
    apiHost: env.HOLDFAST_API_HOST,
    console: env.HOLDFAST_CONSOLE === 'on',
    development: env.HOLDFAST_DEVELOPMENT,
    agents: env.HOLDFAST_AGENTS,
    diskSize: env.HOLDFAST_DISK_SIZE,
    blockDiskSize: env.HOLDFAST_BLOCK_DISK_SIZE,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
  };
}

/** The environment without empty variables, which mean "not set", as in shell scripts. */
function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

function expandHome(file: string): string {
  return file === '~' || file.startsWith('~/') ? path.join(os.homedir(), file.slice(1)) : file;
}
