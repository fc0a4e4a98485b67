// `node tools/sigkill-campaign.mjs --kills 10000 --disks both --seed 7`: kills processes of a small cluster under load so
// many times, and proves after each that nothing was lost. The copies are on folders (`--disks filesystem`), on block
// disks (`block`), or half of the kills each (`both`). Builds first. `npm test` runs 200 of them.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build, install, quietEnvironment, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';

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

requireSupportedPlatform();
install();
build();
const jest = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
const { status } = spawnSync(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', jest, 'apps/agent/test/sigkill-campaign.test.ts'],
  {
    cwd: repositoryRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...quietEnvironment,
      HOLDFAST_KILLS: values.kills,
      HOLDFAST_SEED: values.seed,
      HOLDFAST_DISKS: values.disks,
    },
  },
);
process.exit(status ?? 1);
