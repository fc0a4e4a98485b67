// What suites import as '@jest/globals': the functions of the suite that runs now. Modules of a worker are loaded once for all of its suites,
// while Jest makes these functions anew for each.
let current = {};

export function setGlobals(globals) {
  current = globals;
}

/** A function of the suite that runs when it is called. */
const ofNow = (name) =>
  new Proxy(() => {}, {
    apply: (_, self, parameters) => Reflect.apply(current[name], self, parameters),
    get: (_, key) => current[name][key],
  });

export const afterAll = ofNow('afterAll');
export const afterEach = ofNow('afterEach');
export const beforeAll = ofNow('beforeAll');
export const beforeEach = ofNow('beforeEach');
export const describe = ofNow('describe');
export const expect = ofNow('expect');
export const jest = ofNow('jest');
export const test = ofNow('test');
