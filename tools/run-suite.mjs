// Runner of one test file: builds, and runs it with settings in its environment, for tools that take a suite further
// than `npm test` does.
import { spawnSync } from 'node:child_process';
import { build, install, quietEnvironment, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';
import { jestCommand } from './jest/command.mjs';

/** Ends the process with the suite's exit code. */
export function runSuite(file, settings) {
  requireSupportedPlatform();
  install();
  build();
  const { status } = spawnSync(process.execPath, jestCommand(repositoryRoot, file), {
    cwd: repositoryRoot,
    stdio: 'inherit',
    env: { ...process.env, ...quietEnvironment, ...settings },
  });
  process.exit(status ?? 1);
}
