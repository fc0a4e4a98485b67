/** What a Docker daemon that had to be killed leaves behind: helpers, containers and mounts. After one that ended well there is nothing. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';

/** @param folder where the daemon had its data */
export async function endProcessesOf(folder: string): Promise<void> {
  const left = () => {
    const pids = processesOf(folder);
    for (const pid of pids) end(pid);
    return pids;
  };
  await eventually('the processes of the daemon are gone', left, ({ length }) => length === 0);
}

/** Is there a process of that program with that word in its command line? */
export function isAnyRunning(program: string, word: string): boolean {
  return fs.readdirSync('/proc').some((pid) => {
    const [first = '', ...others] = words(pid);
    return path.basename(first) === program && others.includes(word);
  });
}

/** Helpers have the folder in their command line, and what runs in a container has the container's id as its cgroup. */
function processesOf(folder: string): number[] {
  const containers = path.join(folder, 'data', 'containers');
  const ids = fs.existsSync(containers) ? fs.readdirSync(containers) : [];
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const isHelper = /^(dockerd|docker-|containerd|runc)/.test(path.basename(words(pid)[0] ?? ''));
      const mentions = words(pid).some((word) => word.includes(folder));
      return (isHelper && mentions) || ids.some((id) => textOf(pid, 'cgroup').includes(id));
    })
    .map(Number);
}

function words(pid: string): string[] {
  return textOf(pid, 'cmdline').split('\0');
}

/** Empty for a process that has ended meanwhile. */
function textOf(pid: string, file: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by now.
  }
}

/** The last that was mounted goes first, since it may be within another. */
export function unmountWithin(folder: string): void {
  const mounted = fs
    .readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`));
  for (const place of mounted.reverse()) spawnSync('umount', ['--lazy', place], { stdio: 'ignore' });
}
