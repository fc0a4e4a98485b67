// SIGKILL campaign, `node tools/sigkill-campaign.mjs --kills 10000 --disks both --seed 7`: kills processes of a small
// cluster under load so many times, and proves after each that nothing was lost. The copies are on folders (`--disks
// filesystem`), on block disks (`block`), or half of the kills each (`both`). Builds first. `npm test` runs 24 of them.
import { parseArgs } from 'node:util';
import { runSuite } from './run-suite.mjs';

const A_COUNT = { form: /^[1-9]\d{0,8}$/, text: 'a whole number above 0' };
const KINDS = { form: /^(filesystem|block|both)$/, text: 'filesystem, block or both' };
const OPTIONS = { kills: A_COUNT, seed: A_COUNT, disks: KINDS };

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    disks: { type: 'string', default: 'both' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (OPTIONS[name].form.test(value)) continue;
  console.error(`--${name} has to be ${OPTIONS[name].text}`);
  process.exit(2);
}

runSuite('apps/agent/test/sigkill-campaign.night.test.ts', {
  HOLDFAST_KILLS: values.kills,
  HOLDFAST_SEED: values.seed,
  HOLDFAST_DISKS: values.disks,
});
