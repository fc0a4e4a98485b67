import { expect, test } from '@jest/globals';
import { EXIT } from './exit-codes.js';
import { refusal } from './refusal.js';

const small = { pointer: '/size', detail: 'must be at least 4096' };
const unnamed = { pointer: '/name', detail: 'must not be empty' };

test.each<[string, object, string, string[]]>([
  [
    'of one field',
    { detail: 'size must be at least 4096', errors: [small] },
    'size must be at least 4096',
    [],
  ],
  [
    'of several fields',
    { detail: 'size must be at least 4096; name must not be empty', errors: [small, unnamed] },
    'size must be at least 4096',
    ['name must not be empty'],
  ],
  [
    'in words of its own, of which a field is told',
    {
      detail: 'default-replica-count must be 1 to 20',
      errors: [{ pointer: '/value', detail: 'must be 1 to 20' }],
    },
    'default-replica-count must be 1 to 20',
    [],
  ],
  [
    'that a field adds to',
    { detail: 'it is full', errors: [small] },
    'it is full',
    ['size must be at least 4096'],
  ],
  ['with cures', { detail: 'it is full', errors: [], cures: ['add a disk'] }, 'it is full', ['add a disk']],
  ['of a proxy', {}, 'the API answered 400', []],
])('a refusal %s is told once', (_, body, message, hints) => {
  expect(refusal(400, body)).toMatchObject({ message, hints, exitCode: EXIT.usage });
});
