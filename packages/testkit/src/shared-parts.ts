/**
 * Parts that all suites of a Jest run share: one local stack without agents, and one browser. Both are started when a suite first
 * needs them. A process of their own keeps them and ends them with the run (tools/jest/shared-parts-keeper.mjs).
 */
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The stack of the run, with its database's address for its owner and for the system role. */
export type SharedStack = { home: string; ownerUrl: string; systemUrl: string };

/** Time limit of the start of a part: longer than a stack takes before it gives up. */
const START_MS_MAX = 400_000;

export function sharedStack(): Promise<SharedStack> {
  return askKeeper<SharedStack>('/stack');
}

/** A connection to the run's browser. Closing it closes only contexts opened over it. */
export async function sharedBrowser(): Promise<Browser> {
  const { endpoint } = await askKeeper<{ endpoint: string }>('/browser');
  return chromium.connect(endpoint);
}

/** Whether this is a suite of a Jest run, and not a tool that uses the same means. */
export function isInRun(): boolean {
  return process.env.HOLDFAST_TEST_RUN !== undefined;
}

/** Folder of the run, which is removed when the run ends. */
export function runFolder(): string {
  const folder = process.env.HOLDFAST_TEST_RUN;
  if (folder === undefined) throw new Error('what suites share is there in a Jest run only');
  return folder;
}

async function askKeeper<T>(what: string): Promise<T> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const at = { socketPath: path.join(runFolder(), 'keeper.sock'), path: what, timeout: START_MS_MAX };
    const request = http.get(at, resolve).once('error', reject);
    request.once('timeout', () => request.destroy(new Error(`no answer in ${START_MS_MAX / 1000} s`)));
  });
  let text = '';
  for await (const chunk of response) text += String(chunk);
  if (response.statusCode !== 200) throw new Error(`${what} could not be started: ${text}`);
  // The keeper answers each path in one shape.
  return JSON.parse(text) as T;
}

/** Notes the leader of a process group for the keeper, which kills the group with the run if its suite could not. */
export function endGroupWithRun(leader: ChildProcess): void {
  // Outside of Jest, as in a campaign of killed processes, there is no run.
  if (process.env.HOLDFAST_TEST_RUN === undefined) return;
  const note = path.join(runFolder(), 'agents', String(leader.pid));
  fs.mkdirSync(path.dirname(note), { recursive: true });
  fs.writeFileSync(note, '');
  leader.once('exit', () => fs.rmSync(note, { force: true }));
}
