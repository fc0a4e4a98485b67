/** Seconds by the path of the suite below the repository. */
export const LONG_SUITES: Readonly<Record<string, number>>;
