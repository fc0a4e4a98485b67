import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.js';

const DATABASE_SYSTEM_URL = 'postgres://system:secret@127.0.0.1:5432/holdfast';

describe('readConfig', () => {
  test('only the database is needed', () => {
    expect(readConfig({ DATABASE_SYSTEM_URL, REDIS_URL: '' })).toEqual({
      databaseUrl: DATABASE_SYSTEM_URL,
      redisUrl: undefined,
      logLevel: 'info',
      port: 7403,
      host: '127.0.0.1',
      webhookNetworks: [],
    });
  });

  test.each([
    { what: 'no database', environment: {}, named: 'DATABASE_SYSTEM_URL' },
    {
      what: 'a port that is none',
      environment: { DATABASE_SYSTEM_URL, HOLDFAST_WORKER_PORT: '70000' },
      named: 'HOLDFAST_WORKER_PORT',
    },
    {
      what: 'a network that is none',
      environment: { DATABASE_SYSTEM_URL, HOLDFAST_WEBHOOK_NETWORKS: '10.0.0.0/8, everywhere' },
      named: 'HOLDFAST_WEBHOOK_NETWORKS',
    },
  ])('$what is named', ({ environment, named }) => {
    expect(() => readConfig(environment)).toThrow(named);
  });
});
