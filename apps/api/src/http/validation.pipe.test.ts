import type { StorageFault } from '@holdfast/core/model/faults.js';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { dto } from './dto.js';
import { ValidationPipe } from './validation.pipe.js';

class Body extends dto(
  z.strictObject({ name: z.string().min(1), size: z.int().min(4096).multipleOf(4096) }),
) {}

function refused(value: unknown): StorageFault {
  try {
    new ValidationPipe().transform(value, { type: 'body', metatype: Body });
  } catch (error) {
    // The pipe refuses with nothing else.
    return error as StorageFault;
  }
  throw new Error('it was taken');
}

test('a wrong body is refused with one sentence for each field, with all that the field must be', () => {
  const { code, details } = refused({ name: '', size: 1_000, colour: 'red' });
  expect(code).toBe('request.invalid');
  expect(details.errors).toEqual([
    { pointer: '/name', detail: 'must not be empty' },
    { pointer: '/size', detail: 'must be at least 4096 and must be a multiple of 4096' },
    { pointer: '/colour', detail: 'is not known here' },
  ]);
  expect(details.publicMessage).toBe(
    'name must not be empty; size must be at least 4096 and must be a multiple of 4096; colour is not known here',
  );
});

test('a body that is none is named so', () => {
  expect(refused([]).details.publicMessage).toBe('the body must be an object');
});
