// Before a Jest run: makes the run's folder, and starts the process that keeps what its suites share.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const KEEPER = fileURLToPath(new URL('./shared-parts-keeper.mjs', import.meta.url));

export default async function startSharedParts() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-run-'));
  fs.chmodSync(folder, 0o755);
  // Jest's own flags are not for it, and Ctrl-C at a terminal reaches it by the end of this process.
  const keeper = fork(KEEPER, [folder], { execArgv: [], detached: true });
  await once(keeper, 'message');
  keeper.unref();
  keeper.channel?.unref();
  process.env.HOLDFAST_TEST_RUN = folder;
  globalThis.holdfastKeeper = keeper;
}
