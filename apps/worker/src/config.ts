import { addressRangesOf, isAddressRange } from '@holdfast/identity/address-ranges.js';
import { z } from 'zod';

const schema = z.object({
  /** Postgres as the system role: the worker looks after all organizations. */
  DATABASE_SYSTEM_URL: z.string().url(),
  /** Where jobs live; without it they live in Postgres. */
  REDIS_URL: z.string().url().optional(),
  /** Authority of a Redis at `rediss://`, a PEM file; left out: those that Node trusts. */
  REDIS_CA_FILE: z.string().startsWith('/', 'an absolute path').optional(),
  HOLDFAST_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** For /livez, /readyz and /metrics. */
  HOLDFAST_WORKER_PORT: z.coerce.number().int().min(0).max(65535).default(7403),
  HOLDFAST_WORKER_HOST: z.string().default('127.0.0.1'),
  /** Networks beside the public internet that webhooks may be sent to (CIDR, by commas); there over http too. */
  HOLDFAST_WEBHOOK_NETWORKS: z
    .string()
    .default('')
    .transform(addressRangesOf)
    .refine((ranges) => ranges.every(isAddressRange), 'addresses or networks such as 10.0.0.0/8, by commas'),
  /** Lets its holder read /metrics; without one only callers on this machine may. */
  HOLDFAST_METRICS_TOKEN: z.union([z.literal(''), z.string().min(16)]).optional(),
});

export type WorkerConfig = {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly redisCaFile?: string | undefined;
  readonly logLevel: string;
  readonly port: number;
  readonly host: string;
  readonly webhookNetworks: readonly string[];
  readonly metricsToken?: string | undefined;
};

/** @throws Error that names every variable that is missing or wrong */
export function readConfig(environment: NodeJS.ProcessEnv): WorkerConfig {
  // An empty variable is what shells and compose files make of an unset one.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the worker's environment is wrong: ${problems.join('; ')}`);
  }
  const { data } = parsed;
  return {
    databaseUrl: data.DATABASE_SYSTEM_URL,
    redisUrl: data.REDIS_URL,
    redisCaFile: data.REDIS_CA_FILE,
    logLevel: data.HOLDFAST_LOG_LEVEL,
    port: data.HOLDFAST_WORKER_PORT,
    host: data.HOLDFAST_WORKER_HOST,
    webhookNetworks: data.HOLDFAST_WEBHOOK_NETWORKS,
    metricsToken: data.HOLDFAST_METRICS_TOKEN,
  };
}
