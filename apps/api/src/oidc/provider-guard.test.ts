import { expect, test } from '@jest/globals';
import { assertMayCall } from './provider-guard.js';

test.each<{ issuer: string; asked: string; resolves?: string; refused?: string }>([
  { issuer: 'https://id.example.test', asked: 'https://id.example.test/token', resolves: '192.0.2.7' },
  { issuer: 'https://id.example.test', asked: 'https://keys.example.test/jwks', resolves: '10.1.2.3' },
  { issuer: 'https://id.example.test', asked: 'http://id.example.test/token', refused: 'is not HTTPS' },
  {
    issuer: 'https://id.example.test',
    asked: 'https://x.test/',
    resolves: '169.254.169.254',
    refused: '169.254',
  },
  {
    issuer: 'https://id.example.test',
    asked: 'https://x.test/',
    resolves: '127.0.0.1',
    refused: '127.0.0.1',
  },
  { issuer: 'http://127.0.0.1:9000', asked: 'http://127.0.0.1:9000/token' },
  { issuer: 'http://127.0.0.1:9000', asked: 'http://127.0.0.1:7400/api', refused: 'is not HTTPS' },
])('$issuer has $asked called, which is $resolves', async ({ issuer, asked, resolves, refused }) => {
  const lookup = async () => [resolves ?? '192.0.2.1'];
  const call = assertMayCall(new URL(asked), new URL(issuer), lookup);
  if (refused === undefined) await expect(call).resolves.toBeUndefined();
  else await expect(call).rejects.toThrow(refused);
});
