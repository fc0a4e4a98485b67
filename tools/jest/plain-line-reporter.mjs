// Jest reporter that ends a test run with the plain line that scripts read: `N passed, M failed` (`, K skipped` when
// any).
import fs from 'node:fs';
import { lateSuites } from './late-suites.mjs';

export default class PlainLineReporter {
  onRunComplete(_contexts, results) {
    // A suite that could not even load ran no test, and still is a failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const late = lateSuites(results.testResults);
    const counts = { passed: results.numPassedTests, failed, skipped, late };
    const file = process.env.HOLDFAST_TEST_COUNTS;
    if (file !== undefined) fs.writeFileSync(file, JSON.stringify(counts));
    else console.log(plainLine(counts));
  }
}

export function plainLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
