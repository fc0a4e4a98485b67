import { execFile, spawnSync } from 'node:child_process';

/** True when a program of that name can be run here. Tests of real NBD tools take another path where it can't. */
export function hasTool(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
}

export type ToolResult = { code: number; stdout: string; stderr: string };

/** Runs a program to its end. Bounded, because a hanging tool would otherwise hang the test run. */
export function runTool(name: string, args: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve) => {
    execFile(name, args, { timeout: 60_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1;
      resolve({ code, stdout, stderr });
    });
  });
}
