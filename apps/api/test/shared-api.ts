/** The API process that the suites of one Jest worker share, on sources and on a database of its own. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { prepareSuiteRole, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { type StartedPart, workersPart } from '@holdfast/testkit/worker-parts.js';

export type SharedApi = Omit<TestDatabase, 'stop'> & { readonly port: number };

const MAIN = path.join(repositoryRoot, 'apps/api/src/main.ts');
const ON_SOURCES = [
  '--conditions=holdfast-source',
  '--import',
  path.join(repositoryRoot, 'tools/typescript/register.mjs'),
];

export const sharedApi = (): Promise<SharedApi> => workersPart('api', startApi);

async function startApi(): Promise<StartedPart<SharedApi>> {
  const { ownerUrl, apiUrl, systemUrl } = await startTestDatabase();
  await prepareSuiteRole(ownerUrl);
  const port = await freePort();
  const child = spawn(process.execPath, [...ON_SOURCES, MAIN], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: apiUrl,
      DATABASE_SYSTEM_URL: systemUrl,
      HOLDFAST_API_PORT: String(port),
      HOLDFAST_COOKIE_SECURE: 'false',
      HOLDFAST_LOG_LEVEL: 'error',
      // Each suite has an address of its own, so that failed sign-ins of one do not slow another.
      HOLDFAST_TRUSTED_PROXIES: '127.0.0.1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.unref();
  if (child.pid === undefined) throw new Error('the shared API could not be started');
  await eventually(
    'the shared API is ready',
    () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status, String),
    (status) => status === 200 || child.exitCode !== null,
  );
  if (child.exitCode !== null) throw new Error(`the shared API ended with ${child.exitCode}`);
  return { value: { ownerUrl, apiUrl, systemUrl, port }, pid: child.pid, signal: 'SIGKILL' };
}
