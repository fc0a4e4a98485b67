// An API process of the benchmark's own, on a free port.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RoleUrls } from '@holdfast/database/roles.js';
import { freePortBlock, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { pidOf } from '../reconcile/process-usage.js';

const READY_TIMEOUT_MS = 30_000;

export type Process = { readonly port: number; readonly pid: number };

export async function startApi(
  { apiUrl, systemUrl }: RoleUrls,
  children: ChildProcess[],
  more: Record<string, string> = {},
): Promise<Process> {
  const port = await freePortBlock();
  const child = spawn(
    process.execPath,
    ['--v8-pool-size=1', '--max-semi-space-size=8', path.join(repositoryRoot, 'apps/api/dist/main.js')],
    {
      env: {
        ...process.env,
        HOLDFAST_API_PORT: String(port),
        HOLDFAST_LOG_LEVEL: 'info',
        DATABASE_URL: apiUrl,
        DATABASE_SYSTEM_URL: systemUrl,
        ...more,
      },
      stdio: ['ignore', fs.openSync('/dev/null', 'w'), 'inherit'],
    },
  );
  children.push(child);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return { port, pid: pidOf(child) };
    if (Date.now() > deadline) throw new Error('the API is not ready');
    await sleep(50);
  }
}
