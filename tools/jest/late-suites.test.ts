import { expect, test } from '@jest/globals';
import { LATE_SUITES_MAX, lateSuites, type SuiteResult } from './late-suites.mjs';

const SLOW =
  'Error: not within 40 s: the volume is healthy. Last: "degraded"\n    at eventually (eventually.ts:25:13)';
const STUCK = 'Error: thrown: "Exceeded timeout of 960000 ms for a test.\nAdd a timeout value';
const UNSEEN = 'TimeoutError: locator.click: Timeout 240000ms exceeded.\nCall log:';
const NOT_CONNECTED = 'Error: Connection terminated due to connection timeout\n    at pg-pool/index.js:45:11';
const WRONG = 'Error: expect(received).toBe(expected) // Object.is equality';

/** A suite by why its tests failed; undefined is a test that passed. */
function aSuite(testFilePath: string, ...tests: (string | undefined)[]): SuiteResult {
  const testResults = tests.map((message) => ({
    status: message === undefined ? 'passed' : 'failed',
    failureMessages: message === undefined ? [] : [message],
  }));
  const numFailingTests = testResults.filter(({ status }) => status === 'failed').length;
  return { testFilePath, numFailingTests, testResults };
}

const GOOD = aSuite('good', undefined);

test.each<[string, SuiteResult[], string[]]>([
  ['nothing failed', [GOOD], []],
  [
    'something was late',
    [GOOD, aSuite('a', SLOW, undefined), aSuite('b', STUCK, UNSEEN), aSuite('c', NOT_CONNECTED)],
    ['a', 'b', 'c'],
  ],
  ['something was wrong', [GOOD, aSuite('a', WRONG)], []],
  ['a late suite also saw something wrong', [aSuite('a', SLOW, WRONG)], []],
  ['one suite was late and another saw something wrong', [aSuite('a', SLOW), aSuite('b', WRONG)], []],
  ['a failure tells of a wait in its answer', [aSuite('a', `${WRONG}\n${SLOW}`)], []],
  [
    'a test failed without a word',
    [{ ...aSuite('a', SLOW), testResults: [{ status: 'failed', failureMessages: [] }] }],
    [],
  ],
  ['a suite could not be loaded', [{ ...GOOD, testExecError: new Error('no such module') }], []],
  ['too much was late', Array.from({ length: LATE_SUITES_MAX + 1 }, (_, n) => aSuite(`s${n}`, SLOW)), []],
])('where %s, the suites to run again are those', (_what, suites, want) => {
  expect(lateSuites(suites)).toEqual(want);
});
