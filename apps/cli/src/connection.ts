import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { contextNamed, readContexts } from './contexts.js';
import { CliError, EXIT } from './exit-codes.js';
import { isObjectWith } from './json.js';

/** A running local stack's address file (`local.json`), as far as the CLI reads it. */
export type LocalJson = {
  apiUrl: string;
  token: string;
  clusterId: string;
  consoleUrl: string;
  controlSocket: string;
  agents: LocalAgent[];
};

/** An agent in that file. It has more fields, which are passed on as they are. */
export type LocalAgent = { name: string; zone: string; pid: number };

export type Connection = { apiUrl: string; token: string; clusterId: string | undefined };

export type ConnectionOptions = { endpoint?: string; token?: string; cluster?: string; context?: string };

/**
 * The API's address and the user's token: from flags, else from the environment, else from the current context, else from the
 * local stack's file. A context that the command names goes before the environment.
 */
export function resolveConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv): Connection {
  if (options.endpoint === undefined) {
    const stored = storedConnection(options, env);
    if (stored !== undefined) return stored;
  }
  const endpoint = options.endpoint ?? env.HOLDFAST_ENDPOINT;
  const token = options.token ?? env.HOLDFAST_TOKEN;
  const clusterId = options.cluster ?? env.HOLDFAST_CLUSTER;
  if (endpoint !== undefined) {
    if (token === undefined) {
      throw new CliError(EXIT.auth, 'an endpoint needs a token too', ['set HOLDFAST_TOKEN, or give --token']);
    }
    return { apiUrl: endpoint.replace(/\/+$/, ''), token, clusterId };
  }
  const local = readLocal(env);
  return { apiUrl: local.apiUrl, token: token ?? local.token, clusterId: clusterId ?? local.clusterId };
}

function storedConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv): Connection | undefined {
  const isNamedByEnvironment = env.HOLDFAST_ENDPOINT !== undefined || env.HOLDFAST_HOME !== undefined;
  if (options.context === undefined && isNamedByEnvironment) return undefined;
  const stored = readContexts(env);
  const name = options.context ?? stored.current;
  if (name === undefined) return undefined;
  const { endpoint, token, cluster } = contextNamed(stored, name);
  return {
    apiUrl: endpoint,
    token: options.token ?? token,
    clusterId: options.cluster ?? env.HOLDFAST_CLUSTER ?? cluster,
  };
}

export function localHome(env: NodeJS.ProcessEnv): string {
  const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
  return path.resolve(env.HOLDFAST_HOME || path.join(repositoryRoot, '.holdfast'));
}

export function readLocal(env: NodeJS.ProcessEnv): LocalJson {
  const file = path.join(localHome(env), 'local.json');
  const local = parsedFile(file);
  if (!isLocalJson(local)) {
    throw new CliError(EXIT.unreachable, `no local stack runs in ${path.dirname(file)}`, [
      'start one with `npm start`',
      'or name an API with HOLDFAST_ENDPOINT and HOLDFAST_TOKEN',
    ]);
  }
  return local;
}

/** Content of the JSON file; `undefined` where there is none, or where it is just being written. */
function parsedFile(file: string): unknown {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isLocalJson(value: unknown): value is LocalJson {
  const texts = { apiUrl: 'string', token: 'string', clusterId: 'string', consoleUrl: 'string' } as const;
  return (
    isObjectWith(value, { ...texts, controlSocket: 'string', agents: 'object' }) &&
    Array.isArray(value.agents) &&
    value.agents.every(isLocalAgent)
  );
}

export function isLocalAgent(value: unknown): value is LocalAgent {
  return isObjectWith(value, { name: 'string', zone: 'string', pid: 'number' });
}
