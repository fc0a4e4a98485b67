// Reporter of Jest that writes a line for each suite as it ends: with `--bail` Jest leaves its own JSON unwritten.
import fs from 'node:fs';

export default class SuiteReporter {
  onTestResult({ path }, { numFailingTests, numPassingTests, testExecError }) {
    const line = { path, failed: numFailingTests, passed: numPassingTests, crashed: testExecError != null };
    fs.appendFileSync(process.env.HOLDFAST_MUTANTS_REPORT, `${JSON.stringify(line)}\n`);
  }
}
