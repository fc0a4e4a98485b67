/** Names of a repository's objects, below the target's prefix. */

export const CONFIGURATION = 'repository.json';
export const HINT = 'hint';
export const JOURNAL_PREFIX = 'journal/';
export const CHECKPOINT_PREFIX = 'checkpoints/';
export const DATA_PREFIX = 'data/';

const RUN = /^[0-9a-f]{32}$/;
const PACK = /^([0-9a-f]{32})\/p(\d{6})$/;

export const journalName = (sequence: number): string =>
  `${JOURNAL_PREFIX}${String(sequence).padStart(12, '0')}`;

export const checkpointName = (sequence: number, nonce: string): string =>
  `${CHECKPOINT_PREFIX}${String(sequence).padStart(12, '0')}-${nonce}`;

/** Everything that one run writes, under one prefix, so that a single listing tells what of it has arrived. */
export const runPrefix = (run: string): string => `${DATA_PREFIX}${run}/`;

export const packOf = (run: string, number: number): string => `${run}/p${String(number).padStart(6, '0')}`;
export const indexOf = (run: string, number: number): string =>
  `${runPrefix(run)}i${String(number).padStart(6, '0')}`;
export const manifestOf = (run: string): string => `${runPrefix(run)}manifest`;

/** Name of the object that holds a pack. */
export const packObject = (pack: string): string => `${DATA_PREFIX}${pack}`;

/** The pack that an object holds; `undefined`: it is none. */
export function packOfObject(name: string): string | undefined {
  const pack = name.slice(DATA_PREFIX.length);
  return name.startsWith(DATA_PREFIX) && PACK.test(pack) ? pack : undefined;
}

/** Run and number of a pack's name; `undefined`: it is none. */
export function packParts(pack: string): { run: string; number: number } | undefined {
  const found = PACK.exec(pack);
  return found === null ? undefined : { run: found[1] ?? '', number: Number(found[2]) };
}

/** The run whose object it is; `undefined`: it is no run's. */
export function runOfObject(name: string): string | undefined {
  if (!name.startsWith(DATA_PREFIX)) return undefined;
  const run = name.slice(DATA_PREFIX.length).split('/')[0] ?? '';
  return RUN.test(run) ? run : undefined;
}
