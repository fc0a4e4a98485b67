/**
 * Machines that can't run a Docker daemon: the reason is told within seconds, and nothing of the trial is left. For a test that runs
 * no daemon at that moment, since two on one machine change each other's rules for packets.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { DockerDaemon } from './docker-daemon.js';

const TOLD_MS_MAX = 20_000;
const { PATH } = process.env;

export function testRefusedDaemons(): void {
  let root: string;
  const at = (name: string) => path.join(root, name);

  beforeAll(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-no-docker-'));
    for (const name of ['daemon', 'lower', 'upper', 'work']) fs.mkdirSync(at(name));
  });
  afterEach(() => {
    process.env.PATH = PATH;
  });
  afterAll(() => fs.rmSync(root, { recursive: true }));

  /** A daemon in a mount namespace of its own, which is prepared by a line of shell. */
  const inNamespace = (line: string) => ['unshare', '--mount', 'sh', '-c', `${line} && exec "$@"`, 'sh'];

  // Each takes one thing away that a daemon needs.
  test.each<{ lacks: string; within: () => string[]; says: RegExp }>([
    {
      lacks: 'a program',
      within: () => {
        process.env.PATH = root;
        return [];
      },
      says: /^these programs are missing: /,
    },
    { lacks: 'cgroups', within: () => inNamespace('umount --recursive /sys/fs/cgroup'), says: /cgroup/i },
    {
      lacks: 'a file system that an overlay can be on',
      within: () => {
        const layers = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`;
        return inNamespace(`mount -t overlay -o ${layers} none ${at('daemon')}`);
      },
      says: /overlay2|driver not supported/,
    },
    {
      lacks: 'the right to set rules for packets',
      within: () => ['setpriv', '--bounding-set', '-net_admin', '--'],
      says: /iptables|permitted|denied/i,
    },
  ])('which lacks $lacks', async ({ within, says }) => {
    const links = fs.readdirSync('/sys/class/net');
    const startedMs = performance.now();
    const { daemon, reason } = await DockerDaemon.start({ folder: at('daemon'), within: within() });
    await daemon?.stop();
    expect(reason).toMatch(says);
    expect(performance.now() - startedMs).toBeLessThan(TOLD_MS_MAX);
    expect(fs.readdirSync('/sys/class/net')).toEqual(links);
  });
}
