// Runs a suite with Jest's own runner, but lets Node load the suite and what it imports: modules are loaded once for all suites of a worker, where
// Jest's runtime would load them anew for each. What a suite changes outside of its own modules is put back: the environment and spies.
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { setGlobals } from './globals.mjs';

export default async function runSuite(globalConfig, config, environment, runtime, testPath, sendMessage) {
  const variables = { ...process.env };
  // Jest replaces the printing of stacks by one that knows only sources of its own runtime: Node's knows the maps in what hooks.mjs compiled.
  Error.prepareStackTrace = undefined;
  try {
    return await circus.default(
      globalConfig,
      config,
      environment,
      natively(runtime, environment),
      testPath,
      sendMessage,
    );
  } finally {
    environment.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, variables);
  }
}

const loaded = new Set();

/** Loads a suite, and itself again where it has run in this process before, as in Jest's watch mode. */
async function loadSuite(file) {
  const url = pathToFileURL(file).href;
  const again = loaded.has(file) ? `?again=${loaded.size}` : '';
  loaded.add(`${file}${again}`);
  return import(`${url}${again}`);
}

/** The runtime, which loads modules as Node does. */
function natively(runtime, environment) {
  const own = {
    setGlobalsForRuntime: (globals) => setGlobals({ ...globals, jest: mocksOf(environment) }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: loadSuite,
  };
  return new Proxy(runtime, {
    get(target, key) {
      const value = own[key] ?? target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** What this repository's suites use of Jest's mocks. */
const mocksOf = ({ moduleMocker, fakeTimersModern }) => ({
  spyOn: moduleMocker.spyOn.bind(moduleMocker),
  restoreAllMocks: moduleMocker.restoreAllMocks.bind(moduleMocker),
  useFakeTimers: fakeTimersModern.useFakeTimers.bind(fakeTimersModern),
  useRealTimers: fakeTimersModern.useRealTimers.bind(fakeTimersModern),
  advanceTimersByTimeAsync: fakeTimersModern.advanceTimersByTimeAsync.bind(fakeTimersModern),
});
