/**
 * Contexts of the CLI: named control planes with the token for each, in one file that only its user may read. The file is
 * replaced as a whole, so that a command which is cut short leaves the one before.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CliError, EXIT } from './exit-codes.js';
import { fieldOf, isObjectWith } from './json.js';

export type StoredContext = { readonly endpoint: string; readonly token: string; readonly cluster?: string };
export type Contexts = {
  readonly current: string | undefined;
  readonly contexts: Readonly<Record<string, StoredContext>>;
};

const ONLY_ITS_USER = 0o600;

export function contextsFile(env: NodeJS.ProcessEnv): string {
  if (env.HOLDFAST_CONTEXTS_FILE) return env.HOLDFAST_CONTEXTS_FILE;
  return path.join(env.XDG_CONFIG_HOME || path.join(os.homedir(), '.config'), 'holdfast', 'contexts.json');
}

/** @throws CliError when the file can't be read, or others may read the tokens in it */
export function readContexts(env: NodeJS.ProcessEnv): Contexts {
  const file = contextsFile(env);
  const none: Contexts = { current: undefined, contexts: {} };
  if (!fs.existsSync(file)) return none;
  if (process.platform !== 'win32' && (fs.statSync(file).mode & 0o077) !== 0) {
    throw new CliError(EXIT.usage, `others may read ${file}, which holds tokens`, [`run chmod 600 ${file}`]);
  }
  const stored: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
  const contexts = fieldOf(stored, 'contexts');
  const current = fieldOf(stored, 'current');
  if (typeof contexts !== 'object' || contexts === null) return none;
  return {
    current: typeof current === 'string' ? current : undefined,
    contexts: Object.fromEntries(
      Object.entries(contexts).flatMap(([name, value]) => (isContext(value) ? [[name, value]] : [])),
    ),
  };
}

function isContext(value: unknown): value is StoredContext {
  const cluster = fieldOf(value, 'cluster');
  return (
    isObjectWith(value, { endpoint: 'string', token: 'string' }) &&
    (cluster === undefined || typeof cluster === 'string')
  );
}

export function writeContexts(env: NodeJS.ProcessEnv, contexts: Contexts): void {
  const file = contextsFile(env);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  fs.writeFileSync(fresh, `${JSON.stringify(contexts, null, 2)}\n`, { mode: ONLY_ITS_USER });
  fs.renameSync(fresh, file);
}

/** Puts a context into the file. It is the current one from now on. */
export function saveContext(env: NodeJS.ProcessEnv, name: string, context: StoredContext): void {
  const { contexts } = readContexts(env);
  writeContexts(env, { current: name, contexts: { ...contexts, [name]: context } });
}

/** @throws CliError when there is none of that name */
export function contextNamed({ contexts }: Contexts, name: string): StoredContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(contexts);
  throw new CliError(EXIT.notFound, `there is no context ${name}`, [
    known.length === 0 ? 'make one with `holdfast auth login`' : `there are ${known.join(', ')}`,
  ]);
}

/** Leaves a context out. Returns it. */
export function removeContext(env: NodeJS.ProcessEnv, name: string): StoredContext {
  const before = readContexts(env);
  const removed = contextNamed(before, name);
  const { [name]: _, ...contexts } = before.contexts;
  writeContexts(env, { current: before.current === name ? undefined : before.current, contexts });
  return removed;
}
