// One Jest configuration for the whole repository, on TypeScript sources and native ES modules. Two projects: suites that run on sources
// alone, and suites that start built processes (`dist`), which tools/test.mjs builds first where one of them is chosen.

/**
 * Which suites run: `quick` (npm test), `long` (those named *.long.test.ts), `night` (*.night.test.ts: searches of which `quick` has a slice,
 * as each says at its top), `networks` (those that change networks, which run after all others: Chromium ends its requests whenever a network
 * of the machine comes or goes), or `all`.
 */
const scope = process.env.HOLDFAST_TEST_SCOPE ?? 'all';
const LONG = '\\.(long|night)\\.test\\.ts$';
const NETWORKS = '/test/partitions/';
const SUFFIX = { quick: '', long: '.long', night: '.night', networks: '.{long,night}', all: '' };
const LEFT_OUT = {
  quick: [LONG],
  long: [NETWORKS],
  night: [NETWORKS],
  networks: [`^(?!.*${NETWORKS})`],
  all: [],
};

/** Where suites that start built processes stand. tools/checks/test-suites.test.ts keeps all others from doing so. */
const BUILT = ['/test/built/', '/apps/agent/test/', '/apps/local/test/'];
/** Suites that need a Docker daemon run where they are asked for by name, and in a job of their own. */
const OPTIONAL = [
  ...(process.env.HOLDFAST_TEST_COMPOSE === '1' ? [] : ['/apps/local/test/compose/']),
  ...(process.env.HOLDFAST_TEST_UPGRADE === '1' ? [] : ['/apps/local/test/upgrade/']),
];

const common = {
  rootDir: import.meta.dirname,
  testEnvironment: '<rootDir>/tools/jest/native-environment.mjs',
  testRunner: '<rootDir>/tools/jest/native-runner.mjs',
  // Node loads suites and sources: see native-runner.mjs.
  transform: {},
  moduleNameMapper: {
    // What the condition `holdfast-source` of each package leads to, for Jest's search of related suites.
    '^@holdfast/(backup|core|control|data-engine|database|identity|jobs|longhorn|scenario|simulator|testkit|tracing)/(?!bench/)(.*)\\.js$':
      '<rootDir>/packages/$1/src/$2',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.*/\\.next/'],
  testMatch: [`<rootDir>/{apps,packages,tools}/**/*${SUFFIX[scope]}.test.ts`],
};
const ignored = ['/node_modules/', '/dist/', '/\\.next/', ...OPTIONAL, ...LEFT_OUT[scope]];
const isBuilt = `(${BUILT.join('|')})`;

export default {
  projects: [
    { ...common, displayName: 'sources', testPathIgnorePatterns: [...ignored, isBuilt] },
    {
      ...common,
      displayName: 'built',
      testPathIgnorePatterns: [...ignored, `^(?!.*${isBuilt})`],
    },
  ],
  globalSetup: '<rootDir>/tools/jest/start-shared-parts.mjs',
  globalTeardown: '<rootDir>/tools/jest/stop-shared-parts.mjs',
  watchPathIgnorePatterns: ['/\\.holdfast/'],
  // One more than the machines that this runs on have cores: a suite that starts processes mostly waits for them.
  maxWorkers: 3,
  // Modules of suites that have ended stay in their process: at some gigabytes each further suite takes ten times as long.
  workerIdleMemoryLimit: '1GB',
  // Ends a test that hangs, on any machine. No test has a limit of its own.
  testTimeout: 600_000,
  reporters: [['default', { summaryThreshold: 0 }], '<rootDir>/tools/jest/summary-reporter.mjs'],
};
