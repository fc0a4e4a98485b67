/** A search for the night: power cuts at every moment of each history, where `power-cut.test.ts` takes some of them. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  CUT_CASES,
  type CutFolders,
  cutPower,
  makeCutFolders,
  removeCutFolders,
} from '../../test/power-cuts.js';

let folders: CutFolders;
beforeEach(async () => {
  folders = await makeCutFolders();
});
afterEach(() => removeCutFolders(folders));

test.each(CUT_CASES)(
  'a power cut at any moment leaves a copy with all that it has acknowledged: $name, on a $kind',
  async ({ kind, history }) => {
    const { states, violations } = await cutPower({ folders, kind, history });
    expect([...violations]).toEqual([]);
    expect(states).toBeGreaterThan(150);
  },
);
