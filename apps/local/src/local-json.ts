import fs from 'node:fs';
import path from 'node:path';
import { readJson, writeJsonPrivately } from './private-file.js';

/**
 * Address file of the stack, `local.json`, written when the stack is ready. The CLI, tests and external scripts rely on
 * its fields.
 */
export type LocalJson = {
  apiUrl: string;
  graphqlUrl: string;
  consoleUrl: string;
  email: string;
  password: string;
  token: string;
  organizationId: string;
  projectId: string;
  clusterId: string;
  processes: { api: number; worker: number; console?: number };
  agents: LocalAgent[];
  /** Path of the control socket, which takes orders such as `local start-agent`. */
  controlSocket: string;
};

export type LocalAgent = {
  nodeId: string;
  name: string;
  zone: string;
  pid: number;
  url: string;
  disks: string[];
};

const fileIn = (home: string) => path.join(home, 'local.json');

export function writeLocalJson(home: string, value: LocalJson): void {
  writeJsonPrivately(fileIn(home), value);
}

export function readLocalJson(home: string): LocalJson | undefined {
  return readJson<LocalJson>(fileIn(home));
}

/** Removes the file. Its absence means that no stack runs, or that it is not ready yet. */
export function removeLocalJson(home: string): void {
  fs.rmSync(fileIn(home), { force: true });
}
