import { expect, test } from '@jest/globals';
import { isReturnPath } from './return-path.js';

test.each(['/', '/volumes?q=pg', '/volumes/1#copies', '/what-if?node=a&drain=b', '/sign-ins'])(
  'a sign-in may lead back to %j',
  (path) => {
    expect(isReturnPath(path)).toBe(true);
  },
);

test.each([
  '',
  'volumes',
  '//evil.example/volumes',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\\/evil.example',
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/%2e%2e//evil.example',
  '/sign-in?next=/volumes',
  '/sign-in',
  '/api/v1/oidc/start',
  `/${'a'.repeat(1_024)}`,
])('a sign-in does not lead to %j', (path) => {
  expect(isReturnPath(path)).toBe(false);
});
