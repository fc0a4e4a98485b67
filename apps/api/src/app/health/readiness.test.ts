/** What a process says of itself while its database does not answer. */
import { isHealthy } from '@holdfast/core/model/health.js';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Databases } from '../../http/databases.js';
import { Readiness } from './readiness.js';

const NOWHERE = 'postgres://nobody@127.0.0.1:1/none';

test('a process that can not ask the database as users, or as agents, is not ready', async () => {
  const databases = new Databases({ databaseUrl: NOWHERE, databaseSystemUrl: NOWHERE });
  const checks = await new Readiness(databases, pino({ level: 'silent' })).checks();
  expect(checks.map(({ name, status }) => [name, status])).toEqual([
    ['database', 'failed'],
    ['database-of-agents', 'failed'],
    ['migrations', 'failed'],
    // Other processes see the same of the outbox: it takes none of them out.
    ['outbox', 'degraded'],
  ]);
  expect(isHealthy(checks)).toBe(false);
});
