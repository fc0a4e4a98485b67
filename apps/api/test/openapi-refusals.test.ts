import { FAULTS } from '@holdfast/core/model/faults.js';
import { describe, expect, test } from '@jest/globals';
import { statusOfCode } from '../src/http/problem.js';
import { type DocumentedOperation, documentedOperations } from './documented-operations.js';

const KNOWN = [...Object.keys(FAULTS), 'internal'];
/** Statuses of `request.invalid` where the body can't be read at all. */
const UNREADABLE = [400, 415];

const OPERATIONS = documentedOperations();

function codesOf({ refusals }: DocumentedOperation): string[] {
  return [...refusals.values()].flatMap((codes) => [...codes]);
}

test('every operation of the API is looked at', () => {
  expect(OPERATIONS.length).toBeGreaterThan(70);
});

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
  const { isPublic, isAgents, method, path, refusals } = operation;
  const codes = codesOf(operation);

  test('names codes that exist, at the status that they are answered with', () => {
    expect(KNOWN).toEqual(expect.arrayContaining(codes));
    for (const [status, atStatus] of refusals) {
      if (UNREADABLE.includes(status)) expect([...atStatus]).toEqual(['request.invalid']);
      else for (const code of atStatus) expect({ code, status: statusOf(code) }).toEqual({ code, status });
    }
  });

  test('names what every request may be refused with', () => {
    expect(codes).toEqual(expect.arrayContaining(['store.unavailable', 'internal']));
    const ofTokens = ['auth.missing', isAgents ? 'node.identity_refused' : 'auth.invalid', 'auth.forbidden'];
    if (!isPublic) expect(codes).toEqual(expect.arrayContaining(ofTokens));
    if (path.includes('{')) expect(codes).toContain('request.not_found');
    if (method !== 'get')
      expect(codes).toEqual(expect.arrayContaining(['request.invalid', 'store.conflict']));
    if (method === 'post' && !isPublic && !isAgents)
      expect(codes).toEqual(expect.arrayContaining(['idempotency.key_reused', 'idempotency.in_flight']));
  });

  test('names what it is not found by, where its address names an object', () => {
    const object = /\{(\w+?)(?:Id|Name)?\}[^{]*$/.exec(path)?.[1];
    const isSetting = object === 'name' ? 'setting' : object;
    const notFound =
      {
        user: 'member',
        recurring: 'recurring_snapshot',
        joinToken: 'join_token',
        signInProvider: 'sign_in_provider',
        userCode: 'device',
        serviceAccount: 'service_account',
      }[isSetting ?? ''] ?? isSetting;
    if (object !== undefined) expect(codes).toContain(`${notFound}.not_found`);
  });
});

function statusOf(code: string): number {
  const known = Object.keys(FAULTS).find((one): one is keyof typeof FAULTS => one === code);
  return known === undefined ? 500 : statusOfCode(known);
}
