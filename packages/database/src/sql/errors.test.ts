/** Errors of the driver and the network for an unavailable Postgres, as the one fault that callers know. */
import { expect, test } from '@jest/globals';
import { translateError, unsureAfter } from './errors.js';

const withCode = (code: string) => Object.assign(new Error(`it says ${code}`), { code });

test.each([
  // Nothing listens, its container's name is gone, its machine is off, its network is.
  withCode('ECONNREFUSED'),
  withCode('ENOTFOUND'),
  withCode('EAI_AGAIN'),
  withCode('EHOSTUNREACH'),
  withCode('ENETUNREACH'),
  withCode('ECONNABORTED'),
  // It takes connections and says nothing, or no connection became free.
  new Error('timeout expired'),
  new Error('timeout exceeded when trying to connect'),
  new Error('Connection terminated due to connection timeout'),
])('%s: the database can not be reached', (error) => {
  expect(translateError(error)).toMatchObject({ code: 'store.unavailable' });
});

test('what is no trouble of the database stays as it is, also behind a change', () => {
  const error = withCode('ENOENT');
  expect([translateError(error), unsureAfter(error)]).toEqual([error, error]);
});
