import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { placementQuestion } from '../../../test/placement-questions.js';
import type { CureChange } from '../framework/cure-change.js';
import { decidePlacement } from '../placement/place-replica.js';
import { explainPlacement } from './explain-placement.js';
import { cycleOf, type PlacementQuestion, withChanges } from './placement-question.js';

/** Few enough to explain each in full, many enough to meet every rule several times. */
const RUNS = 400;

test('an explanation agrees with the scheduler, and each cure is as small as it can be', () => {
  let unplaced = 0;
  let less = 0;
  fc.assert(
    fc.property(placementQuestion, (given) => {
      const explanation = explainPlacement(given);
      const decision = decidePlacement(cycleOf(given));
      expect(explanation.place?.diskId).toBe(decision.kind === 'placed' ? decision.diskId : undefined);
      expect(explanation.tier).toBe(decision.kind === 'placed' ? decision.tier : null);
      const asked = explanation.filters.filter(({ applies }) => applies);
      for (const [at, { subject, asked: count }] of asked.entries()) {
        const before = asked[at - 1];
        if (before?.subject === subject) expect(count).toBe(before.asked - before.rejected);
      }
      if (decision.kind === 'placed') return;
      unplaced += 1;
      for (const { changes } of explanation.cures) {
        expect(fits(given, changes)).toBe(true);
        for (const [at, change] of changes.entries()) {
          // A pair is only told where neither half is enough.
          if (changes.length > 1) expect(fits(given, [change])).toBe(false);
          const smaller = oneLess(change);
          if (smaller === undefined) continue;
          less += 1;
          expect(fits(given, changes.with(at, smaller))).toBe(false);
        }
      }
    }),
    { numRuns: RUNS, seed: 20_260_101 },
  );
  // The generator has to reach what the property is about.
  expect(unplaced).toBeGreaterThan(50);
  expect(less).toBeGreaterThan(200);
});

function fits(given: PlacementQuestion, changes: readonly CureChange[]): boolean {
  return decidePlacement(cycleOf(withChanges(given, changes))).kind === 'placed';
}

/** The same change by the least less; `undefined` where there is no less. */
function oneLess(change: CureChange): CureChange | undefined {
  switch (change.kind) {
    case 'free-space':
      return change.freeBytes > 0
        ? { ...change, freeBytes: change.freeBytes - 1 }
        : { ...change, releaseBytes: change.releaseBytes - 1 };
    case 'lower-reserve':
      return { ...change, toBytes: change.toBytes + 1 };
    case 'wait-until':
      return { ...change, at: new Date(new Date(change.at).getTime() - 1).toISOString() };
    case 'add-disk':
    case 'add-node':
      return { ...change, bytes: change.bytes - 1 };
    case 'set-setting':
      if (change.setting === 'storage-minimal-available-percentage')
        return { ...change, to: Number(change.to) + 1 };
      if (change.setting === 'storage-over-provisioning-percentage')
        return { ...change, to: Number(change.to) - 1 };
      return undefined;
    case 'tag-node':
    case 'tag-disk':
    case 'remove-selector-tags':
      return { ...change, tags: change.tags.slice(1) };
    default:
      return undefined;
  }
}
