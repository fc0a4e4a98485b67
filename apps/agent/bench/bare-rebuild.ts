// A bare rebuild: two processes that make the system calls and hashes of a full rebuild's two ends, and do nothing else (bare-end.ts),
// or those of a comparison of two copies (bare-reader.ts). What it reaches is what this machine can give in Node, whatever the product
// does beside these calls.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { HOST_SETTINGS } from '@holdfast/agent/hosts/host-pool.js';
import { plainFile } from './plain-copy.js';

const END = path.join(import.meta.dirname, 'bare-end.js');
const READER = path.join(import.meta.dirname, 'bare-reader.js');

export type BareRebuild = { readonly seconds: number; readonly cpuSeconds: number };

export async function bareRebuild(folder: string, bytes: number): Promise<BareRebuild> {
  const [from, to] = [plainFile(folder, bytes), path.join(folder, 'bare-copy')];
  const source = start(END, [from]);
  const port = await nextLine(source);
  const startedMs = performance.now();
  const target = start(END, [to, port, String(bytes)]);
  const cpuSeconds = await Promise.all([source, target].map(nextLine));
  const seconds = (performance.now() - startedMs) / 1000;
  for (const file of [from, to]) fs.rmSync(file);
  return { seconds, cpuSeconds: cpuSeconds.reduce((sum, one) => sum + Number(one), 0) };
}

/** Two copies, each of them some files, are read and hashed at once. */
export async function bareComparison(copies: readonly (readonly string[])[]): Promise<BareRebuild> {
  const readers = copies.map((files) => start(READER, files));
  await Promise.all(readers.map(nextLine));
  const startedMs = performance.now();
  const cpuSeconds = await Promise.all(
    readers.map((reader) => {
      reader.stdin?.write('begin\n');
      return nextLine(reader);
    }),
  );
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, cpuSeconds: cpuSeconds.reduce((sum, one) => sum + Number(one), 0) };
}

function start(script: string, args: readonly string[]): ChildProcess {
  const env = { ...process.env, ...HOST_SETTINGS.env };
  const argv = [...HOST_SETTINGS.execArgv, script, ...args];
  return spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'inherit'] });
}

async function nextLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('its output is not read');
  const [line] = await once(stdout, 'data');
  return String(line).trim();
}
