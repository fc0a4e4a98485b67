import { spawnSync } from 'node:child_process';
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

/** Environment of the tool, without the flags that Jest itself runs under. */
function toolEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return { ...environment, NO_COLOR: '1' };
}
