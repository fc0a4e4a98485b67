// Tells a suite in which something was only late from one that saw something wrong. On a machine that others use too, one of some five
// hundred suites may wait for a browser or a process longer than its limits allow, at a moment when all cores are taken.
const LATE = [
  // What a test waited for (packages/testkit/src/eventually.ts), a test or a hook as a whole, and a step in the browser.
  /^Error: not within [\d.]+ s: /,
  /^Error: thrown: "Exceeded timeout of /,
  /^TimeoutError: /,
  // A connection to Postgres, which has five seconds to be there.
  /^Error: (Connection terminated due to connection timeout|timeout exceeded when trying to connect)$/m,
];

/** Past this many, it is no chance: something that many suites need is slow. */
export const LATE_SUITES_MAX = 3;

/** @param {string} message as Jest tells why a test failed, with its stack */
const isLate = (message) => LATE.some((pattern) => pattern.test(message));

/**
 * The suites to run once more, alone, where that may make the run good: each failed test of each failed suite was late.
 *
 * @returns their files; none where anything was wrong, or too much was late
 */
export function lateSuites(suites) {
  const failed = suites.filter(({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError);
  const areLate = failed.every(
    ({ testExecError, testResults }) =>
      !testExecError &&
      testResults.every(
        ({ status, failureMessages }) =>
          status !== 'failed' || (failureMessages.length > 0 && failureMessages.every(isLate)),
      ),
  );
  return areLate && failed.length <= LATE_SUITES_MAX ? failed.map(({ testFilePath }) => testFilePath) : [];
}
