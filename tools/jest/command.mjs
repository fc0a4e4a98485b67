// Arguments with which Node runs Jest. Suites, and threads and processes that the code under test starts, run on sources (tools/typescript).
import path from 'node:path';

/** @param {string} root folder of the repository */
export const jestCommand = (root, ...args) => [
  '--enable-source-maps',
  '--no-warnings',
  '--conditions=holdfast-source',
  '--import',
  path.join(root, 'tools/typescript/register.mjs'),
  path.join(root, 'node_modules/jest/bin/jest.js'),
  ...args,
];
