import crypto from 'node:crypto';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { describe, test } from '@jest/globals';
import { Absences, BASE_BYTES } from '../../test/absences.js';
import { useClusters, write } from '../../test/engine-cluster.js';

const { cluster } = useClusters();
const STEPS = 30;

describe('a copy that was away', () => {
  test('gets nothing that was not written meanwhile, though its layers were merged on the others', async () => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(BASE_BYTES));
    const absences = new Absences(new SeededRandom(1), volume, engine);
    for (let round = 0; round < 3; round += 1) {
      await absences.leave();
      await absences.comeBack();
    }
    await absences.end();
  });

  test.each([1, 2, 3, 4, 32, 34])('gets no more than that on any way (seed %i)', async (seed) => {
    const volume = await cluster(3);
    const engine = await volume.start(1);
    await write(engine, 0, crypto.randomBytes(BASE_BYTES));
    const absences = new Absences(new SeededRandom(seed), volume, engine);
    try {
      for (let i = 0; i < STEPS; i += 1) await absences.step();
      await absences.end();
    } catch (error) {
      throw new Error(`after ${absences.story.join(', ')}: ${String(error)}`, { cause: error });
    }
  });
});
