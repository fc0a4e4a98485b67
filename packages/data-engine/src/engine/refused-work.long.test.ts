/** As the quick suite, at each call that the work makes on a file. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SIZE, useClusters } from '../../test/engine-cluster.js';
import { ERROR_CODES, type ErrorCode, RefusingDisks } from '../../test/refusing-disks.js';
import { type EngineWork, WORK, WorkedVolume, workRefused } from '../../test/worked-volume.js';

const { cluster, nodes } = useClusters();
const disks = new RefusingDisks();
beforeEach(() => disks.install());
afterEach(() => disks.uninstall());

/** Far more than any work makes. */
const CALLS_MAX = 500;
const DEVICE_BYTES = 2 * SIZE;

describe.each(Object.keys(WORK) as EngineWork[])('a %s', (name) => {
  test.each(['ENOSPC'] as const)('costs none where the block devices refuse with %s', async (code) => {
    nodes().blockDiskBytes = DEVICE_BYTES;
    await eachCall(name, code);
  });

  test.each(ERROR_CODES)(
    'costs no byte and no copy that it is not about where all disks refuse with %s',
    async (code) => {
      await eachCall(name, code);
    },
  );
});

async function eachCall(name: EngineWork, code: ErrorCode): Promise<void> {
  let from = 1;
  while (await workRefused(await WorkedVolume.make(cluster), disks, name, code, from)) {
    from += 1;
    expect(from).toBeLessThan(CALLS_MAX);
    await nodes().removeAll();
  }
}
