import { expect, test } from '@jest/globals';
import { loggedAddress } from './logged-address.js';

const DEVICE = '/api/v1/device/:userCode/approve';

test.each<{ name: string; url: string; route?: string; want: string }>([
  { name: 'a list', url: '/api/v1/volumes?limit=5&sort=-name', want: '/api/v1/volumes?limit=5&sort=-name' },
  {
    name: 'a token in a query',
    url: '/api/v1/volumes?access_token=hft_1',
    want: '/api/v1/volumes?access_token=[hidden]',
  },
  {
    name: 'a name that is escaped',
    url: '/x?%61ccess_token=hft_1&limit=5',
    want: '/x?%61ccess_token=[hidden]&limit=5',
  },
  { name: 'a text without a name', url: '/x?hft_1', want: '/x?[hidden]' },
  { name: 'a second question mark', url: '/x?limit=1?token=hft_1', want: '/x?limit=[hidden]' },
  { name: 'a value of several parts', url: '/x?filter=a=b', want: '/x?filter=a=b' },
  {
    name: "a provider's answer",
    url: '/api/v1/oidc/callback?code=c&state=s',
    want: '/api/v1/oidc/callback?code=[hidden]&state=[hidden]',
  },
  {
    name: 'the code of a program',
    url: '/api/v1/device/BCDF-GHJK/approve?a=b',
    route: DEVICE,
    want: '/api/v1/device/[hidden]/approve?a=[hidden]',
  },
  {
    name: 'that code behind an escape',
    url: '/api/v1/dev%69ce/BCDF-GHJK/approve',
    route: DEVICE,
    want: '/api/v1/device/[hidden]/approve',
  },
  {
    name: 'a code at an address that is none',
    url: '/api/v1/Device/BCDF-GHJK/yes',
    want: '/api/v1/Device/[hidden]/yes',
  },
  { name: 'a program that begins', url: '/api/v1/device/start', want: '/api/v1/device/start' },
  { name: 'a program that asks', url: '/api/v1/device/token', want: '/api/v1/device/token' },
])('of $name the log tells what is no secret', ({ url, route, want }) => {
  expect(loggedAddress(url, route)).toBe(want);
});

test('an address without end is cut', () => {
  expect(loggedAddress(`/${'x'.repeat(100_000)}`, undefined).length).toBeLessThan(4_096);
});
