// Environment of suites that native-runner.mjs loads: what Jest runs in a context of its own (expect, the order of tests) knows the built-in classes that
// Node's modules know, so that `expect.any(String)` and classes of errors mean the same on both sides. Fake timers are those of Node's modules.
import { TestEnvironment } from 'jest-environment-node';

const BUILT_IN_CLASSES = Object.fromEntries(
  Object.getOwnPropertyNames(globalThis)
    .filter((name) => /^[A-Z]/.test(name) && typeof globalThis[name] === 'function')
    .map((name) => [name, globalThis[name]]),
);

export default class NativeEnvironment extends TestEnvironment {
  constructor({ globalConfig, projectConfig }, context) {
    // Jest makes each of these options a global of its context.
    const testEnvironmentOptions = { ...projectConfig.testEnvironmentOptions, ...BUILT_IN_CLASSES };
    super({ globalConfig, projectConfig: { ...projectConfig, testEnvironmentOptions } }, context);
    const FakeTimers = this.fakeTimersModern.constructor;
    this.fakeTimersModern = new FakeTimers({ config: projectConfig, global: globalThis });
  }
}
