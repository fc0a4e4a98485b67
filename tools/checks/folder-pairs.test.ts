/** Check of folders: no two of them import each other, in any package. */
import { expect, test } from '@jest/globals';
import { folderPairs } from './folder-pairs.js';
import { sourceFiles } from './source-files.js';

test('no two folders import each other', () => {
  const shipped = sourceFiles(['apps', 'packages']).filter(
    ({ at }) => at.includes('/src/') && !/\.test\.tsx?$/.test(at),
  );
  expect(folderPairs(shipped)).toEqual([]);
});

test('two folders that do are named by the imports of each other', () => {
  const pair = [
    { at: 'packages/core/src/model/a.ts', text: "import { b } from '../policy/b.js';" },
    { at: 'packages/core/src/policy/b.ts', text: 'export const b = 1;' },
    { at: 'packages/core/src/policy/c.ts', text: "import type { D } from '../model/d.js';" },
    { at: 'packages/core/src/model/d.ts', text: 'export type D = 1;' },
  ];
  expect(folderPairs(pair)).toEqual([
    'packages/core/src/model/a.ts → packages/core/src/policy/b.ts and packages/core/src/policy/c.ts → packages/core/src/model/d.ts',
  ]);
  expect(folderPairs(pair.slice(0, 2))).toEqual([]);
});

test('the folder of a package’s entry imports all others, and may be imported', () => {
  const entry = [
    { at: 'apps/agent/src/main.ts', text: "import '../src/http/a.js';" },
    { at: 'apps/agent/src/http/a.ts', text: "import '../config.js';" },
    { at: 'apps/agent/src/config.ts', text: '' },
  ];
  expect(folderPairs(entry)).toEqual([]);
});
