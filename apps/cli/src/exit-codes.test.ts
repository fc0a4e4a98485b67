import { expect, test } from '@jest/globals';
import { EXIT, exitCodeFor } from './exit-codes.js';

test.each([
  { status: 401, want: EXIT.auth },
  { status: 403, want: EXIT.auth },
  { status: 404, want: EXIT.notFound },
  { status: 409, want: EXIT.conflict },
  { status: 412, want: EXIT.conflict },
  { status: 413, want: EXIT.usage },
  { status: 422, want: EXIT.usage },
  { status: 429, want: EXIT.limited },
  { status: 500, want: EXIT.unexpected },
  { status: 503, want: EXIT.unreachable },
])('status $status ends with exit code $want', ({ status, want }) => {
  expect(exitCodeFor(status)).toBe(want);
});
