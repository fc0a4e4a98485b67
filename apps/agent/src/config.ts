/** The agent's configuration, from the environment only, checked as a whole before anything starts. */
import path from 'node:path';
import { z } from 'zod';
import type { DiskEntry } from './disks/disks.js';
import { type TlsConfig, tlsOfEnvironment } from './tls-environment.js';

const UNIT_BYTES: Record<string, number> = {
  '': 1,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

const size = z.string().transform((text, context) => {
  const match = /^(\d{1,15})(Ki|Mi|Gi|Ti)?B?$/.exec(text.trim());
  const bytes = match === null ? Number.NaN : Number(match[1]) * (UNIT_BYTES[match[2] ?? ''] ?? 1);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  context.addIssue({ code: 'custom', message: 'expected bytes, or a number with Ki, Mi, Gi or Ti' });
  return z.NEVER;
});

const port = z.coerce.number().int().min(1).max(65535);
const optionalText = z
  .string()
  .max(128)
  .optional()
  .transform((text) => (text === undefined || text === '' ? null : text));

const file = z.string().startsWith('/', 'an absolute path').optional();
const TLS_FILES = ['HOLDFAST_NBD_TLS_CERT', 'HOLDFAST_NBD_TLS_KEY', 'HOLDFAST_NBD_TLS_CA'] as const;

const paths = z
  .string()
  .transform((text) => text.split(':').filter((file) => file !== ''))
  .refine((files) => files.every((file) => file.startsWith('/')), 'absolute paths, separated by colons')
  .refine((files) => files.length <= 256, 'at most 256 disks');
/** Size of a new block disk where none is configured: small enough for any machine to allocate at once. */
const BLOCK_DISK_BYTES = 2 * 2 ** 30;

const environmentSchema = z
  .object({
    HOLDFAST_API_URL: z.string().url(),
    /** Compose files pass a variable that is not set as an empty one. */
    HOLDFAST_AGENT_TOKEN: z.string().optional(),
    HOLDFAST_AGENT_TOKEN_FILE: file,
    HOLDFAST_NODE_NAME: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'lower case letters, digits, . and -'),
    HOLDFAST_ZONE: optionalText,
    HOLDFAST_REGION: optionalText,
    HOLDFAST_DISKS: paths,
    HOLDFAST_DISK_SIZE: size,
    HOLDFAST_BLOCK_DISKS: paths.optional(),
    HOLDFAST_BLOCK_DISK_SIZE: size.optional(),
    HOLDFAST_DISK_ROOTS: paths.optional(),
    HOLDFAST_BIND_HOST: z.string().min(1).default('127.0.0.1'),
    HOLDFAST_ADVERTISE_HOST: z.string().min(1).optional(),
    HOLDFAST_CONTROL_PORT: port,
    HOLDFAST_NBD_PORT: port,
    HOLDFAST_NBD_TLS: z.enum(['off', 'allow', 'require']).default('off'),
    HOLDFAST_NBD_TLS_CERT: file,
    HOLDFAST_NBD_TLS_KEY: file,
    HOLDFAST_NBD_TLS_CA: file,
    HOLDFAST_STATE_DIR: z.string().startsWith('/', 'an absolute path'),
    HOLDFAST_HOST_MAX_VOLUMES: z.coerce.number().int().min(1).max(256).default(16),
    HOLDFAST_METRICS_TOKEN: z.union([z.literal(''), z.string().min(16)]).optional(),
  })
  // Clients can't connect to "all addresses", so the agent has to be configured with the address under which it is reached.
  .refine((env) => !isWildcard(env.HOLDFAST_ADVERTISE_HOST ?? env.HOLDFAST_BIND_HOST), {
    path: ['HOLDFAST_ADVERTISE_HOST'],
    message: 'needed, and an address of its own, when the agent listens on all addresses',
  })
  .superRefine((env, context) => {
    if (env.HOLDFAST_NBD_TLS === 'off') return;
    for (const name of TLS_FILES.filter((variable) => env[variable] === undefined)) {
      const message = `a PEM file, needed where HOLDFAST_NBD_TLS is ${env.HOLDFAST_NBD_TLS}`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

export type AgentConfig = {
  apiUrl: string;
  /** Join token, which is needed until the agent has joined; or the file that holds it. */
  joinToken: { text: string } | { file: string } | undefined;
  nodeName: string;
  zone: string | null;
  region: string | null;
  disks: DiskEntry[];
  /** Folders below which users may add disks through the API. */
  diskRoots: string[];
  /** Size in bytes of such a disk where the user gives none. */
  diskBytes: Record<DiskEntry['type'], number>;
  bindHost: string;
  advertiseHost: string;
  controlPort: number;
  nbdPort: number;
  nbdTls: TlsConfig;
  stateDirectory: string;
  hostVolumesMax: number;
  /** Lets its holder read /metrics; without one only callers on this machine may. */
  metricsToken?: string | undefined;
};

/**
 * Reads the agent's configuration.
 *
 * @throws Error that lists every wrong or missing variable, for the operator to read
 */
export function readConfig(environment: NodeJS.ProcessEnv): AgentConfig {
  const parsed = environmentSchema.safeParse(environment);
  if (!parsed.success) throw new Error(describeIssues(parsed.error));
  const env = parsed.data;
  return {
    apiUrl: env.HOLDFAST_API_URL.replace(/\/+$/, ''),
    joinToken: joinTokenOf(env),
    nodeName: env.HOLDFAST_NODE_NAME,
    zone: env.HOLDFAST_ZONE,
    region: env.HOLDFAST_REGION,
    disks: [
      ...env.HOLDFAST_DISKS.map((path): DiskEntry => {
        return { type: 'filesystem', path, sizeBytes: env.HOLDFAST_DISK_SIZE };
      }),
      ...(env.HOLDFAST_BLOCK_DISKS ?? []).map((path): DiskEntry => {
        return { type: 'block', path, sizeBytes: env.HOLDFAST_BLOCK_DISK_SIZE ?? BLOCK_DISK_BYTES };
      }),
    ],
    diskRoots:
      env.HOLDFAST_DISK_ROOTS ?? parentsOf([...env.HOLDFAST_DISKS, ...(env.HOLDFAST_BLOCK_DISKS ?? [])]),
    diskBytes: {
      filesystem: env.HOLDFAST_DISK_SIZE,
      block: env.HOLDFAST_BLOCK_DISK_SIZE ?? BLOCK_DISK_BYTES,
    },
    bindHost: env.HOLDFAST_BIND_HOST,
    advertiseHost: env.HOLDFAST_ADVERTISE_HOST ?? env.HOLDFAST_BIND_HOST,
    controlPort: env.HOLDFAST_CONTROL_PORT,
    nbdPort: env.HOLDFAST_NBD_PORT,
    nbdTls: tlsOfEnvironment(env),
    stateDirectory: env.HOLDFAST_STATE_DIR,
    hostVolumesMax: env.HOLDFAST_HOST_MAX_VOLUMES,
    metricsToken: env.HOLDFAST_METRICS_TOKEN,
  };
}

function joinTokenOf(env: z.infer<typeof environmentSchema>): AgentConfig['joinToken'] {
  const { HOLDFAST_AGENT_TOKEN: text, HOLDFAST_AGENT_TOKEN_FILE: path } = env;
  if (text !== undefined && text !== '') return { text };
  return path === undefined ? undefined : { file: path };
}

/** The folders that the disks lie in: more may be added beside them. A disk in the root folder opens no way to all others. */
function parentsOf(disks: readonly string[]): string[] {
  return [...new Set(disks.map((disk) => path.dirname(disk)))].filter((folder) => folder !== '/');
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function describeIssues(error: z.ZodError): string {
  const rows = error.issues.map(({ path, message }) => [path.join('.'), message] as const);
  const width = Math.max(...rows.map(([key]) => key.length));
  return [
    'The agent is not configured:',
    ...rows.map(([key, message]) => `  ${key.padEnd(width)}  ${message}`),
  ].join('\n');
}
