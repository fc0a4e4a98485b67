import { addressRangesOf, isAddressRange } from '@holdfast/identity/address-ranges.js';
import { CERTIFICATE_DAYS_MAX } from '@holdfast/identity/authority-roles.js';
import { isLoopback } from '@holdfast/identity/names.js';
import { z } from 'zod';
import { type OidcConfig, oidcConfigOf, oidcEnvironment } from './oidc-config.js';

const networks = z
  .string()
  .default('')
  .transform(addressRangesOf)
  .refine((ranges) => ranges.every(isAddressRange), 'addresses or networks such as 10.0.0.0/8, by commas');

const proxies = networks.refine(
  (ranges) => !ranges.some((range) => /\/0+$/.test(range)),
  'names single proxies or their networks, not every address there is',
);

const environment = z.object({
  HOLDFAST_API_HOST: z.string().min(1).default('127.0.0.1'),
  HOLDFAST_API_PORT: z.coerce.number().int().min(0).max(65535).default(7400),
  HOLDFAST_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Connects as the api role, which row-level security limits to one organization at a time. */
  DATABASE_URL: z.url(),
  /** Connects as the system role, for the agents' routes. */
  DATABASE_SYSTEM_URL: z.url(),
  /** All cookies are marked Secure, so that browsers send them over HTTPS only. */
  HOLDFAST_COOKIE_SECURE: z.stringbool().optional(),
  /** Longest life of a token in days. */
  HOLDFAST_TOKEN_DAYS_MAX: z.coerce.number().int().min(1).max(3_650).default(365),
  /** Whether GraphQL serves its schema to developers' tools. */
  HOLDFAST_GRAPHQL_INTROSPECTION: z.stringbool().default(true),
  /** Bearer token for /metrics; without one only callers on this machine may read it. */
  HOLDFAST_METRICS_TOKEN: z.string().min(16).optional(),
  /** Networks of addresses that agents may report, beside the address that they connect from (CIDR, by commas). */
  HOLDFAST_AGENT_NETWORKS: networks,
  /** Networks beside the public internet that webhooks may be sent to, as the worker has them. */
  HOLDFAST_WEBHOOK_NETWORKS: networks,
  /** Networks beside the public internet that organizations' sign-in providers may be in. */
  HOLDFAST_OIDC_NETWORKS: networks,
  /** Proxies whose headers for a user's address, host and protocol are trusted (addresses or CIDR, by commas or spaces). */
  HOLDFAST_TRUSTED_PROXIES: proxies,
  /** Secret by which the console on the same machine authenticates. */
  HOLDFAST_CONSOLE_SECRET: z.string().min(16).optional(),
  /** Address of this API for agents (`http://10.0.0.5:7400/api/v1`); left out: see `agentUrlOf`. */
  HOLDFAST_API_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Life of a node's certificate in hours. Agents renew them when half of it is over. */
  HOLDFAST_NODE_CERTIFICATE_HOURS: z.coerce
    .number()
    .min(0.01)
    .max(CERTIFICATE_DAYS_MAX * 24)
    .default(24),
  /** Interval between two regular heartbeats of an agent. */
  HOLDFAST_HEARTBEAT_INTERVAL_MS: z.coerce.number().int().min(100).max(60_000).default(2_000),
  ...oidcEnvironment.shape,
});

export type Config = {
  host: string;
  port: number;
  logLevel: string;
  databaseUrl: string;
  databaseSystemUrl: string;
  /** True: all cookies are Secure. False: only those of requests over HTTPS. */
  cookieSecure: boolean;
  tokenDaysMax: number;
  graphqlIntrospection: boolean;
  agentNetworks: readonly string[];
  /** Addresses and networks of the proxies whose `X-Forwarded-…` headers are trusted; left out: none. */
  trustedProxies?: readonly string[] | undefined;
  /** Secret that the console on the same machine sends; left out: none. */
  consoleSecret?: string | undefined;
  webhookNetworks?: readonly string[] | undefined;
  oidcNetworks?: readonly string[] | undefined;
  /** Address of this API for agents; undefined: unknown. */
  agentUrl?: string | undefined;
  nodeCertificateHours: number;
  heartbeatIntervalMs: number;
  metricsToken?: string | undefined;
  /** URL of the console for browsers; left out: the address that a request was sent to. */
  consoleUrl?: URL | undefined;
  /** Left out: users sign in by password only. */
  oidc?: OidcConfig | undefined;
};

/** Reads the configuration, or ends with a message that names every wrong variable at once. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  // An empty variable is what shells and compose files make of an unset one.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`wrong configuration:\n${problems.join('\n')}`);
  }
  const { data } = parsed;
  return {
    host: data.HOLDFAST_API_HOST,
    port: data.HOLDFAST_API_PORT,
    logLevel: data.HOLDFAST_LOG_LEVEL,
    databaseUrl: data.DATABASE_URL,
    databaseSystemUrl: data.DATABASE_SYSTEM_URL,
    // Browsers take such cookies over HTTPS only, which a stack on one machine lacks.
    cookieSecure: data.HOLDFAST_COOKIE_SECURE ?? !isLoopback(data.HOLDFAST_API_HOST),
    tokenDaysMax: data.HOLDFAST_TOKEN_DAYS_MAX,
    graphqlIntrospection: data.HOLDFAST_GRAPHQL_INTROSPECTION,
    agentNetworks: data.HOLDFAST_AGENT_NETWORKS,
    trustedProxies: data.HOLDFAST_TRUSTED_PROXIES,
    consoleSecret: data.HOLDFAST_CONSOLE_SECRET,
    webhookNetworks: data.HOLDFAST_WEBHOOK_NETWORKS,
    oidcNetworks: data.HOLDFAST_OIDC_NETWORKS,
    agentUrl: agentUrlOf(data),
    nodeCertificateHours: data.HOLDFAST_NODE_CERTIFICATE_HOURS,
    heartbeatIntervalMs: data.HOLDFAST_HEARTBEAT_INTERVAL_MS,
    metricsToken: data.HOLDFAST_METRICS_TOKEN,
    consoleUrl: data.HOLDFAST_CONSOLE_URL,
    oidc: oidcConfigOf(data),
  };
}

/** Wildcard addresses: other machines can not connect to them. */
const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]']);

/**
 * The configured URL, or the address where the API listens if that is a single one: then no other one leads to it, except through a proxy.
 */
function agentUrlOf(env: z.output<typeof environment>): string | undefined {
  const { HOLDFAST_API_URL: url, HOLDFAST_API_HOST: host, HOLDFAST_API_PORT: port } = env;
  if (url !== undefined) return url.replace(/\/+$/, '');
  if (EVERYWHERE.has(host) || port === 0) return undefined;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}/api/v1`;
}
