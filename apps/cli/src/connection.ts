import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from './exit-codes.js';
import { isObjectWith } from './json.js';

/** What a running local stack tells about itself (`local.json`). */
export type LocalJson = {
  apiUrl: string;
  token: string;
  clusterId: string;
  consoleUrl: string;
  controlSocket: string;
  agents: LocalAgent[];
};

/** What is read of an agent; the file tells more, which is passed on as it is. */
export type LocalAgent = { name: string; zone: string; pid: number };

export type Connection = { apiUrl: string; token: string; clusterId: string | undefined };

export type ConnectionOptions = { endpoint?: string; token?: string; cluster?: string };

/** Where the API is and who asks: by flags, then by environment, then the local stack's own file. */
export function resolveConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv): Connection {
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

/** Undefined where there is no file, and for one that is just being written. */
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
