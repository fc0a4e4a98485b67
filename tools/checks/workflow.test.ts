/** The workflow runs on machines that hold a token: what it runs is named by content, as a tag can be moved to other code. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from './run-tool.js';

const FOLDER = path.join(repositoryRoot, '.github/workflows');
const PINNED = /^\s*- uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/;

test('every action of the workflow is pinned to a commit, with its version beside it', () => {
  const used = fs
    .readdirSync(FOLDER)
    .flatMap((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8').split('\n'))
    .filter((line) => line.includes('uses:'));
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((line) => !PINNED.test(line))).toEqual([]);
});
