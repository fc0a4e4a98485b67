/** What is read of a suite's result as Jest gives it to a reporter. */
export type SuiteResult = {
  readonly testFilePath: string;
  readonly numFailingTests: number;
  /** Where the suite could not even run. */
  readonly testExecError?: unknown;
  readonly testResults: readonly { readonly status: string; readonly failureMessages: readonly string[] }[];
};
export const LATE_SUITES_MAX: number;
export function lateSuites(suites: readonly SuiteResult[]): string[];
