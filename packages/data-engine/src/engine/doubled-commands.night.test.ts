/** A search for the night: randomly duplicated commands, with more seeds than `doubled-commands.test.ts` has. */
import { test } from '@jest/globals';
import { endsAsWithoutDoubles } from '../../test/doubled-commands.js';
import { useClusters } from '../../test/engine-cluster.js';

const clusters = useClusters();

test.each([3, 4, 5, 6, 7, 8, 9, 10])(
  'seed %i: snapshots, a rebuild, reverts and purges end as without',
  (seed) => endsAsWithoutDoubles(clusters, seed),
);
