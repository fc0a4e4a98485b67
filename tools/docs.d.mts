export const WRITING_SUITES: Readonly<Record<string, string>>;
export const RECORDING_SUITES: Readonly<Record<string, string>>;
