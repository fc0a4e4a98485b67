import { expect, test } from '@jest/globals';
import { returnPath, signInFor } from './return-path';

test.each(['/volumes?q=pg', '/volumes/1', '/'])('a sign-in on the way to %s leads back there', (going) => {
  expect(returnPath(new URL(signInFor(going), 'http://x').search)).toBe(going);
});

test.each([
  '//evil.example/volumes',
  '/\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/\tfoo//evil.example'.replace('foo', ''),
  '/sign-in?next=/volumes',
  'volumes',
])('a sign-in does not lead to %j', (next) => {
  expect(returnPath(`?next=${encodeURIComponent(next)}`)).toBe('/');
});
