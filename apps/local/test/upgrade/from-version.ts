/** The version that the upgrade begins with: a commit of this repository, from which its image is built. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * The last commit before organizations had OpenID providers of their own: seven migrations behind, without descriptions of
 * volumes on their copies, and with agents that do not say which version of their protocol they speak.
 */
export const FROM_COMMIT = '88dfee83df3e532d1379f63e1179f385c48033d2';

/** Why its sources can't be had here; `undefined`: they can. */
export function whyNoHistory(): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${FROM_COMMIT}^{commit}`], {
      cwd: repositoryRoot,
      stdio: 'ignore',
    });
    return undefined;
  } catch {
    return `this clone has no commit ${FROM_COMMIT.slice(0, 8)} to upgrade from (git fetch --unshallow)`;
  }
}

/** Puts the sources of that commit into an empty folder. */
export function checkOutFromVersion(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', FROM_COMMIT], {
    cwd: repositoryRoot,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
}
