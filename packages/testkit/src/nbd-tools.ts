import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Folders of programs for administrators, which are not in every user's path. */
const ADMIN_FOLDERS = ['/usr/sbin', '/sbin'];

/**
 * True when all these programs can be found, so that a machine without them may skip what needs them.
 *
 * @throws Error in continuous integration, which installs them all: there a test that is left out would go unnoticed
 */
export function hasPrograms(...names: string[]): boolean {
  const folders = [...(process.env.PATH ?? '').split(':'), ...ADMIN_FOLDERS];
  const missing = names.filter((name) => !folders.some((folder) => fs.existsSync(path.join(folder, name))));
  if (missing.length > 0 && process.env.CI !== undefined) {
    throw new Error(`missing programs: ${missing.join(', ')} (.ci/run installs them)`);
  }
  return missing.length === 0;
}

export type ToolResult = { code: number; stdout: string; stderr: string };

/** Runs a program to its end. Bounded, because a hanging tool would otherwise hang the test run. */
export function runTool(name: string, args: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: [process.env.PATH, ...ADMIN_FOLDERS].join(':') };
    execFile(name, args, { env, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs a program that has to succeed, and returns its output. */
export async function outputOf(name: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTool(name, args);
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}
