/** Work that an engine goes on with after its answer, on disks that refuse; each call of it is tried in the long suite. */
import { ENGINE_COMMANDS } from '@holdfast/core/model/engine-commands.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useClusters } from '../../test/engine-cluster.js';
import { ERROR_CODES, RefusingDisks } from '../../test/refusing-disks.js';
import { type EngineWork, WORK, WorkedVolume, workRefused } from '../../test/worked-volume.js';

const { cluster } = useClusters();
const disks = new RefusingDisks();
beforeEach(() => disks.install());
afterEach(() => disks.uninstall());

/** Commands of `refused-effects.test.ts`, which are done when they answer, and those that make no call on a file. */
const DONE_AT_ONCE = ['take-snapshot', 'remove-snapshot', 'revert', 'expand', 'purge'];
const WITHOUT_CALLS = ['tune-rebuild', 'cancel-rebuild', 'set-replica-timeout', 'layers'];

test('every command of an engine meets disks that refuse', () => {
  const known = Object.keys(ENGINE_COMMANDS);
  expect([...Object.keys(WORK), ...DONE_AT_ONCE, ...WITHOUT_CALLS].sort()).toEqual(known.sort());
});

describe.each(Object.keys(WORK) as EngineWork[])('a %s', (name) => {
  test.each(ERROR_CODES)(
    'costs no byte and no copy that it is not about where all disks refuse with %s',
    async (code) => {
      await workRefused(await WorkedVolume.make(cluster), disks, name, code, 1);
    },
  );
});
