import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CRASH_HISTORIES, type History } from '../../test/crash-histories.js';
import {
  CUT_CASES,
  type CutFolders,
  cutPower,
  type DiskKind,
  makeCutFolders,
  removeCutFolders,
} from '../../test/power-cuts.js';

/** `power-cut.night.test.ts` looks into every state. */
const SHARE = 24;

let folders: CutFolders;
beforeEach(async () => {
  folders = await makeCutFolders();
});
afterEach(() => removeCutFolders(folders));

test.each(CUT_CASES)(
  'a power cut leaves a copy with all that it has acknowledged: $name, on a $kind',
  async ({ kind, history }) => {
    const { states, violations } = await cutPower({ folders, kind, history, share: SHARE });
    expect([...violations]).toEqual([]);
    expect(states).toBeGreaterThan(5);
  },
);

/** A program that forgets one kind of sync. */
describe('the recorder finds', () => {
  test.each<{
    fault: string;
    history: string;
    kind?: DiskKind;
    ignores: (file: string, isFolder: boolean) => boolean;
  }>([
    {
      fault: 'folders that are not synced',
      history: 'a snapshot, and writes over it',
      ignores: (_, isFolder) => isFolder,
    },
    {
      fault: 'data that is not synced',
      history: 'writes, flushes and FUA',
      ignores: (file) => file.endsWith('.img'),
    },
    {
      fault: 'maps that are not synced',
      history: 'writes, flushes and FUA',
      ignores: (file) => file.endsWith('.map') && !file.endsWith('intent.map'),
    },
    {
      fault: 'marks that are not synced',
      history: 'marks: cleared, and set again',
      ignores: (file) => file.endsWith('intent.map'),
    },
    {
      fault: 'metadata that is renamed before it is synced',
      history: 'a revert',
      ignores: (file) => file.endsWith('.spare'),
    },
    {
      fault: 'a block disk that syncs every second time',
      history: 'a snapshot, and writes over it',
      kind: 'block disk',
      ignores: everySecond(),
    },
  ])('$fault', async ({ history: name, kind = 'folder', ignores: ignoresSync }) => {
    const history = CRASH_HISTORIES[name] as History;
    const { violations } = await cutPower({ folders, kind, history, ignoresSync });
    expect(violations.size).toBeGreaterThan(0);
  });
});

function everySecond(): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % 2 === 0;
  };
}
