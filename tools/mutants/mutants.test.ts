/** Planted faults: each can be planted still, all rooms have their share, and a run tells what is found from what is not. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '../checks/run-tool.js';
import { chooseFaults, FAULTS, type Fault, isLong, SIMULATED_FAULTS, withFault } from './fault-table.mjs';

const FAULTS_MIN = 130;
const FOUND_QUICKLY_MIN = 110;
const OF_FOLDER_MIN = 2;

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8');

describe('the table of planted faults', () => {
  test('has texts to find that occur once in their files, and changes that change something', () => {
    for (const fault of FAULTS) expect(withFault(read(fault.file), fault)).not.toBe(read(fault.file));
  });

  test('names each fault once, says what it breaks, and names a suite that is there', () => {
    const names = [...FAULTS.map(({ name }) => name), ...SIMULATED_FAULTS];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(FAULTS.filter(({ breaks }) => breaks.split(' ').length < 5)).toEqual([]);
    const gone = FAULTS.filter(({ foundBy }) => !fs.existsSync(path.join(repositoryRoot, foundBy)));
    expect(gone.map(({ name, foundBy }) => `${name}: ${foundBy}`)).toEqual([]);
  });

  test('is long enough, and most of it is for quick suites', () => {
    expect(FAULTS.length + SIMULATED_FAULTS.length).toBeGreaterThanOrEqual(FAULTS_MIN);
    const quick = FAULTS.filter(({ foundBy }) => !isLong(foundBy));
    expect(quick.length).toBeGreaterThanOrEqual(FOUND_QUICKLY_MIN);
  });

  test.each([
    'packages/backup/src',
    'packages/core/src',
    'packages/access/src',
    'packages/control/src',
    'packages/database/src/store',
    'packages/data-engine/src',
    'apps/api/src',
    'apps/agent/src',
    'apps/worker/src',
    'apps/cli/src',
    'apps/console/src',
  ])('has two at least for each folder below %s that has rules', (room) => {
    const isScant = (folder: string) =>
      FAULTS.filter(({ file }) => isBelow(file, folder)).length < OF_FOLDER_MIN;
    expect(FAULTS.some(({ file }) => isBelow(file, room))).toBe(true);
    expect(foldersBelow(room).filter(isScant)).toEqual([]);
  });
});

describe('a sample of the faults', () => {
  const sampleOf = (seed: number) => chooseFaults(FAULTS, { sample: 12, seed }).map(({ name }) => name);

  test('is the same for the same seed, and another one for another', () => {
    expect(sampleOf(1)).toHaveLength(12);
    expect(sampleOf(1)).toEqual(sampleOf(1));
    expect(sampleOf(2)).not.toEqual(sampleOf(1));
  });

  test('has no faults of long suites where these do not run', () => {
    const [fault] = FAULTS;
    const long = { ...fault, foundBy: 'apps/local/test/story.long.test.ts' } as Fault;
    expect(chooseFaults([long], { tier: 'test' })).toEqual([]);
    expect(chooseFaults([long], { tier: 'all' })).toEqual([long]);
  });
});

/** Interfaces, and wiring of one statement: there is no rule in them to break. */
const WITHOUT_RULES = [
  'packages/control/src/ports',
  'apps/api/src/resources/grants',
  'apps/worker/src/alerts',
  'apps/worker/src/capacity',
];
/** Pages are mostly markup, and commands mostly options: for these rooms the count is of the room. */
const WHOLE_ROOMS = ['apps/cli/src', 'apps/console/src'];

/** Folders below the room that hold sources themselves; the room where it counts as a whole. */
function foldersBelow(room: string): string[] {
  if (WHOLE_ROOMS.includes(room)) return [room];
  const entries = fs.readdirSync(path.join(repositoryRoot, room), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${room}/${name}`);
  if (folders.length === 0) return [room];
  return folders.flatMap((folder) => [folder, ...foldersIn(folder)]).filter(hasRules);
}

function foldersIn(folder: string): string[] {
  const entries = fs.readdirSync(path.join(repositoryRoot, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}/${name}`);
}

function hasRules(folder: string): boolean {
  const names = fs.readdirSync(path.join(repositoryRoot, folder));
  const isSource = (name: string) => name.endsWith('.ts') && !name.endsWith('.test.ts');
  return names.some(isSource) && !WITHOUT_RULES.includes(folder);
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}
