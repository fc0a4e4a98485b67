/**
 * Agreement with Longhorn's real scheduler, decision by decision (`packages/core/test/vectors`).
 *
 * The auto-balance categories are left out: they follow upstream bugs and are informative.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { FleetView } from '../src/model/views.js';
import { runVector } from '../src/scheduling/conformance/run-vector.js';
import { toFleet } from '../src/scheduling/conformance/to-fleet.js';
import { isInformative, vectorSchema } from '../src/scheduling/conformance/vector.js';

const FOLDER = new URL('./vectors/', import.meta.url);

const VECTORS = readdirSync(FOLDER)
  .sort()
  .flatMap((file): unknown[] => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')))
  .filter((vector) => !isInformative(vector));

const RESULTS = VECTORS.map(runVector);
const CATEGORIES = [...new Set(RESULTS.map(({ category }) => category))];

describe('the longhorn profile agrees with Longhorn', () => {
  test('on 1454 vectors in all', () => {
    expect(RESULTS.filter(({ passed }) => passed)).toHaveLength(1454);
  });

  test.each(CATEGORIES)('%s', (category) => {
    const ofCategory = RESULTS.filter((result) => result.category === category);
    const failed = ofCategory.filter(({ passed }) => !passed);
    expect(failed.map(({ name, got, wanted }) => `${name}: got ${got}, wanted ${wanted}`)).toEqual([]);
  });

  test('whatever the order of nodes, disks and replicas', () => {
    const reversed = VECTORS.map((vector) => runVector(withListsReversed(vector)));
    expect(reversed.filter(({ exact }) => !exact).map(({ name }) => name)).toEqual([]);
  });

  // Stronger than Longhorn's own randomness asks for: ties go to the smallest ids, out of exactly its candidates.
  test('and gives the listed one of several right answers', () => {
    expect(RESULTS.filter(({ exact }) => !exact).map(({ name }) => name)).toEqual([]);
  });
});

/** Lists in which order says nothing, turned round. */
const UNORDERED: ReadonlySet<string> = new Set(['nodes', 'disks', 'existingReplicas', 'tags', 'candidates']);

const FIELDS = z.record(z.string(), z.unknown());

function withListsReversed(vector: unknown): unknown {
  const text = JSON.stringify(vector, (key: string, value: unknown) =>
    UNORDERED.has(key) && Array.isArray(value) ? [...value].reverse() : value,
  );
  const copy: unknown = JSON.parse(text);
  // What is expected keeps its order: there the lists are sorted.
  return { ...FIELDS.parse(copy), ...expectationsOf(vector) };
}

function expectationsOf(vector: unknown): object {
  const { expected, steps } = FIELDS.parse(vector);
  return { ...(expected === undefined ? {} : { expected }), ...(steps === undefined ? {} : { steps }) };
}

describe('conditions worked out from the facts are those that Longhorn recorded', () => {
  const clusters = VECTORS.map((vector) => vectorSchema.parse(vector))
    .filter((vector) => 'nodes' in vector)
    .filter(({ conditionsDerived }) => conditionsDerived);

  test('on every vector that says so', () => {
    expect(clusters.length).toBeGreaterThan(1000);
    const differing = clusters.filter(({ nodes, settings }) => {
      const [recorded, derived] = (['recorded', 'derived'] as const).map((conditions) =>
        conditionsOf(toFleet({ nodes, settings, conditions }, 'v1')),
      );
      return recorded !== derived;
    });
    expect(differing.map(({ name }) => name)).toEqual([]);
  });

  const conditionsOf = ({ nodes, disks }: FleetView) =>
    [
      ...nodes.flatMap(({ name, conditions }) => conditions.map(({ type, status }) => [name, type, status])),
      ...disks.flatMap(({ name, conditions }) =>
        conditions.map(({ type, status, reason }) => [name, type, status, reason]),
      ),
    ].join('\n');
});
