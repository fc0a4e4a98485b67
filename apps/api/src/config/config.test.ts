import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.js';

const DATABASES = {
  DATABASE_URL: 'postgres://api@db/holdfast',
  DATABASE_SYSTEM_URL: 'postgres://sys@db/holdfast',
};

test('an empty variable is one that is not set', () => {
  const empty = { HOLDFAST_TOKEN_DAYS_MAX: '', HOLDFAST_METRICS_TOKEN: '', HOLDFAST_CONSOLE_URL: '' };
  expect(readConfig({ ...DATABASES, ...empty, HOLDFAST_OIDC_ISSUER: '' })).toEqual(readConfig(DATABASES));
});

describe('where agents reach the API', () => {
  test.each<[name: string, env: Record<string, string>, want: string | undefined]>([
    [
      'is what is configured',
      { HOLDFAST_API_URL: 'http://10.0.0.5:7400/api/v1/' },
      'http://10.0.0.5:7400/api/v1',
    ],
    [
      'is else where it listens',
      { HOLDFAST_API_HOST: '10.0.0.6', HOLDFAST_API_PORT: '7500' },
      'http://10.0.0.6:7500/api/v1',
    ],
    ['has brackets around IPv6', { HOLDFAST_API_HOST: 'fd00::7' }, 'http://[fd00::7]:7400/api/v1'],
    ['is not known where it listens everywhere', { HOLDFAST_API_HOST: '0.0.0.0' }, undefined],
    ['is not known for all of IPv6 either', { HOLDFAST_API_HOST: '::' }, undefined],
    ['is not known at a port that the kernel chooses', { HOLDFAST_API_PORT: '0' }, undefined],
  ])('the address that agents are given %s', (_, env, want) => {
    expect(readConfig({ ...DATABASES, ...env }).agentUrl).toBe(want);
  });

  test('is an address of HTTP', () => {
    expect(() => readConfig({ ...DATABASES, HOLDFAST_API_URL: 'api:7400' })).toThrow('HOLDFAST_API_URL');
  });
});

describe('HOLDFAST_TRUSTED_PROXIES', () => {
  const proxies = (text: string) =>
    readConfig({ ...DATABASES, HOLDFAST_TRUSTED_PROXIES: text }).trustedProxies;

  test('is none where it is not set', () => {
    expect(readConfig(DATABASES).trustedProxies).toEqual([]);
    expect(proxies('')).toEqual([]);
  });

  test('takes addresses and networks, by commas or spaces', () => {
    expect(proxies('10.0.0.1, 192.168.0.0/16 2001:db8::/32')).toEqual([
      '10.0.0.1',
      '192.168.0.0/16',
      '2001:db8::/32',
    ]);
  });

  test.each([
    'true',
    '1',
    'loopback',
    'gateway',
    '10.0.0.0/33',
    '10.0.0',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1;10.0.0.2',
  ])('refuses a start with %s', (text) => {
    expect(() => proxies(text)).toThrow('HOLDFAST_TRUSTED_PROXIES');
  });
});
