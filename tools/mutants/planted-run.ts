/** Runs over one planted fault of a cheap rule of core, for tests of the tool. */
import fs from 'node:fs';
import os from 'node:os';
import { repositoryRoot } from '../checks/run-tool.js';
import type { Fault } from './fault-table.mjs';
import { type Result, runFaults } from './run-faults.mjs';

const RULE = 'filter.parts.every(';

/** @param replace what stands in the place of the rule, by the name of the fault */
export async function verdictsOn(
  replace: Readonly<Record<string, string>>,
  finderMs: number,
): Promise<Record<string, Result['verdict']>> {
  const faults = Object.entries(replace).map(([name, text]) => planted(name, text));
  const results = await runFaults(faults, {
    repositoryRoot,
    tier: 'test',
    withRelated: false,
    havePassed: true,
    limits: { finderMs },
  });
  return Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]));
}

function planted(name: string, replace: string): Fault {
  return {
    room: 'core',
    name,
    breaks: 'both sides of AND have to match',
    file: 'packages/core/src/listing/match-filter.ts',
    changes: [{ find: RULE, replace }],
    foundBy: 'packages/core/src/listing/match-filter.test.ts',
  };
}

/** Folders of runs that have not been removed. */
export function foldersOfRuns(): string[] {
  return fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('holdfast-mutants-'));
}
