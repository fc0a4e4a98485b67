/** The images of docker-compose.yml: stand-ins for the public ones, and Holdfast's own. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DockerDaemon } from './docker-daemon.js';

const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));
const standIns = path.join(repositoryRoot, 'infra/docker/stand-in-images.sh');
const IS_GATHERED = process.env.HOLDFAST_TEST_IMAGE === 'gathered';
/** A build of the whole Dockerfile may take ten minutes beside other work; a run that waits for it was asked for by name. */
export const BUILD_MS_MAX = IS_GATHERED ? 480_000 : 1_500_000;
export const IMAGE = 'holdfast:0.1.0';

/**
 * Makes all of them, at once where none needs another.
 *
 * HOLDFAST_TEST_IMAGE says where Holdfast's own comes from: `gathered` puts what this repository has built already into it, which
 * leaves out that half of the Dockerfile which builds; `built` takes the one that is there; without it the whole Dockerfile is built.
 *
 * @param build builds the whole Dockerfile
 */
export async function makeImages(
  daemon: DockerDaemon,
  tag: string,
  build: () => Promise<unknown>,
): Promise<void> {
  const context = path.join(daemon.downloads, 'gathered');
  await Promise.all([makeStandIns(daemon, 'base'), IS_GATHERED && gather(context)]);
  await Promise.all([
    makeStandIns(daemon, 'services'),
    IS_GATHERED && buildGathered(daemon, context, tag),
    process.env.HOLDFAST_TEST_IMAGE === undefined && build(),
  ]);
}

async function makeStandIns(daemon: DockerDaemon, part: 'base' | 'services'): Promise<void> {
  await daemon.run(standIns, [daemon.downloads, part], {}, BUILD_MS_MAX);
}

/** The end of the first half of the Dockerfile, by the same program, but with what is built here. */
async function gather(context: string): Promise<void> {
  fs.rmSync(context, { recursive: true, force: true });
  fs.mkdirSync(context, { recursive: true });
  const args = ['infra/docker/gather.mjs', path.join(context, 'out')];
  await promisify(execFile)('node', args, { cwd: repositoryRoot, timeout: BUILD_MS_MAX });
}

/** The second half of the Dockerfile as it stands, except for where it copies from. */
async function buildGathered(daemon: DockerDaemon, context: string, tag: string): Promise<void> {
  const text = fs.readFileSync(path.join(repositoryRoot, 'infra/docker/Dockerfile'), 'utf8');
  const start = text.search(/^FROM .* AS run$/m);
  const [base] = /(?<=^FROM )\S+(?= AS build$)/m.exec(text) ?? [];
  const parts = { '--from=build /out': 'out', '--from=build ': `--from=${base} ` };
  let half = text.slice(start);
  for (const [from, to] of Object.entries(parts)) {
    if (start < 0 || !half.includes(from))
      throw new Error(`the Dockerfile has no "${from}" in its second half`);
    half = half.replace(from, to);
  }
  const file = path.join(context, 'Dockerfile');
  fs.writeFileSync(file, half);
  await daemon.run('docker', ['build', '--quiet', '--tag', tag, context], {}, BUILD_MS_MAX);
}
