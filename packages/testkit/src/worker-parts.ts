/**
 * Parts that the suites of one Jest worker share: a Postgres, an API process. The first suite that needs a part starts it. The run ends
 * it (tools/jest/shared-parts-keeper.mjs), since a worker may be replaced between two suites.
 */
import fs from 'node:fs';
import path from 'node:path';
import { runFolder } from './shared-parts.js';
import { startPart } from './started-parts.js';

export type StartedPart<T> = {
  /** Data that the next suites need to use the part: it is stored as JSON. */
  readonly value: T;
  /** The process to end with the run; a negative number is a process group. */
  readonly pid: number;
  readonly signal: NodeJS.Signals;
};

const underway = new Map<string, Promise<unknown>>();

/** The worker's part of that name. A worker runs its suites one after the other, so no lock is needed. */
export function workersPart<T>(name: string, start: (folder: string) => Promise<StartedPart<T>>): Promise<T> {
  const known = underway.get(name) ?? findOrStart(`${name}-${process.env.JEST_WORKER_ID}`, start);
  underway.set(name, known);
  // The file was written by this function for a part of the same name.
  return known as Promise<T>;
}

async function findOrStart<T>(name: string, start: (folder: string) => Promise<StartedPart<T>>): Promise<T> {
  const valueFile = path.join(runFolder(), `${name}.json`);
  if (fs.existsSync(valueFile)) return JSON.parse(fs.readFileSync(valueFile, 'utf8')) as T;
  const folder = path.join(runFolder(), name);
  fs.mkdirSync(folder, { recursive: true });
  const { value, pid, signal } = await startPart(name, () => start(folder));
  fs.writeFileSync(path.join(runFolder(), `${name}.process.json`), JSON.stringify({ pid, signal }));
  fs.writeFileSync(valueFile, JSON.stringify(value));
  return value;
}
