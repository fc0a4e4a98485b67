import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

export type ToolResult = { exitCode: number | null; output: string };

/** Runs one of the repository's own tools, by the path of its script below node_modules, and collects its output. */
export function runTool(script: string, args: readonly string[], cwd = repositoryRoot): ToolResult {
  const file = path.join(repositoryRoot, 'node_modules', script);
  const result = spawnSync(process.execPath, [file, ...args], {
    cwd,
    encoding: 'utf8',
    env: toolEnvironment(),
  });
  return { exitCode: result.status, output: `${result.stdout}${result.stderr}` };
}

/** What is in the repository: a tool that walks folders itself would read what is installed and built, too. */
export function trackedFiles(): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '--deduplicate'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error('git lists no files: this is no clone');
  return stdout
    .split('\n')
    .filter(
      (file) => file !== '' && fs.existsSync(path.join(repositoryRoot, file)) && file !== 'pnpm-lock.yaml',
    );
}

/** Environment of the tool, without the flags that Jest itself runs under. */
function toolEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return { ...environment, NO_COLOR: '1' };
}
