// One Jest run for the whole repository, on TypeScript sources and native ES modules. Integration tests that need
// processes start the built ones from dist, so `npm test` builds first.
const transform = {
  '^.+\\.tsx?$': [
    '@swc/jest',
    {
      jsc: {
        parser: { syntax: 'typescript', tsx: false, decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        target: 'es2022',
        keepClassNames: true,
      },
      module: { type: 'es6' },
    },
  ],
};

// A machine of a CI may run other work beside, at a third of its speed for a while. What limits a test is stretched there by this, and so
// is what a test waits for at most (packages/testkit/src/slowness.ts). No test that passes is slower by it.
process.env.HOLDFAST_TEST_SLOWNESS ??= process.env.CI === 'true' ? '4' : '1';

export default {
  testEnvironment: '<rootDir>/tools/jest/patient-environment.mjs',
  globalSetup: '<rootDir>/tools/jest/start-shared-parts.mjs',
  globalTeardown: '<rootDir>/tools/jest/stop-shared-parts.mjs',
  testEnvironmentOptions: { customExportConditions: ['holdfast-source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform,
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testMatch: ['<rootDir>/{apps,packages,tools}/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    '/\\.next/',
    // Builds an image and needs a Docker daemon, so it runs where it is asked for by name, and in CI.
    ...(process.env.HOLDFAST_TEST_COMPOSE === '1' ? [] : ['/apps/local/test/compose/']),
    // Builds the image of an earlier version beside that.
    ...(process.env.HOLDFAST_TEST_UPGRADE === '1' ? [] : ['/apps/local/test/upgrade/']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.*/\\.next/'],
  watchPathIgnorePatterns: ['/\\.holdfast/'],
  // One more than the machines that this runs on have cores: a suite that starts servers mostly waits for them.
  maxWorkers: 3,
  testSequencer: '<rootDir>/tools/jest/paired-sequencer.mjs',
  // Modules of suites that have ended stay in their process: at some gigabytes each further suite takes ten times as long.
  workerIdleMemoryLimit: '1GB',
  // Ten times what the slowest test without a limit of its own takes: on a busy machine all take longer, and one that hangs is stopped all the same.
  testTimeout: 120_000 * Number(process.env.HOLDFAST_TEST_SLOWNESS),
  reporters: [['default', { summaryThreshold: 0 }], '<rootDir>/tools/jest/plain-line-reporter.mjs'],
};
