/** Decisions that Longhorn's scheduler has made, written as objects of Longhorn and read again: the answers are those of the vectors. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runVector } from '@holdfast/core/scheduling/conformance/run-vector.js';
import { expect, test } from '@jest/globals';
import { readCluster } from '../src/read-cluster.js';
import { FORMS, writeForm } from './bundle-files.js';
import { objectsOf, type Release } from './longhorn-objects.js';
import { fleetWorlds, type Question, vectorOf, worldOf } from './worlds.js';

/** Volumes of 1.12 and later know all that a decision reads. */
const RELEASE: Release = '1.13';

test('each decision gets its answer, from each kind of source in turn', async () => {
  const worlds = fleetWorlds();
  expect(worlds.length).toBeGreaterThan(1000);
  const wrong: string[] = [];
  for (const { vector, index } of worlds) {
    const problem = await problemWith(vector, FORMS[index % FORMS.length] ?? 'kit-bundle');
    if (problem !== undefined) wrong.push(`${vector.name}: ${problem}`);
  }
  expect(wrong).toEqual([]);
});

async function problemWith(vector: Question, form: (typeof FORMS)[number]): Promise<string | undefined> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'longhorn-decision-'));
  try {
    const cluster = await readCluster(writeForm(folder, form, objectsOf(worldOf(vector), RELEASE)));
    const { passed, exact, got, wanted } = runVector(vectorOf(vector, cluster));
    if (!passed || !exact) return `as ${form} got ${got}, wanted ${wanted}`;
    return cluster.problems[0]?.message;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
