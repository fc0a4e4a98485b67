import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import path from 'node:path';
import type { CreateReplica } from '@holdfast/core/model/agent-protocol.js';
import { asId } from '@holdfast/core/model/ids.js';
import { pino } from 'pino';
import type { Disk } from '../src/disks/disk.js';
import { type DiskEntry, DiskSet } from '../src/disks/disks.js';
import { KnownDisks } from '../src/disks/known-disks.js';
import { HostPool } from '../src/hosts/host-pool.js';
import type { AgentMethods, ReplicaHostMethods } from '../src/hosts/host-protocol.js';
import { Replicas } from '../src/replicas.js';

/** Adopts the disk as an agent with this home does when it starts. */
export async function takeDisk(home: string, entry: DiskEntry): Promise<Disk> {
  const known = await KnownDisks.load(path.join(home, 'state'));
  const [disk] = (await takeDisks([entry], known)).list;
  if (disk === undefined) throw new Error('no disk was taken');
  return disk;
}

/** The disks of an agent that is configured with these, where users may add none. */
export function takeDisks(
  entries: readonly DiskEntry[],
  known: KnownDisks,
  roots: readonly string[] = [],
): Promise<DiskSet> {
  const defaultBytes = { filesystem: 2 ** 30, block: 2 ** 26 };
  return DiskSet.take({ entries, roots, defaultBytes, known });
}

/** A new copy for the disk. */
export function copyFor(disk: Disk): CreateReplica {
  return {
    replicaId: asId(crypto.randomUUID()),
    volumeId: asId(crypto.randomUUID()),
    diskId: disk.diskId,
    sizeBytes: 2 ** 20,
    secret: 'a-secret-of-sixteen',
    record: null,
  };
}

/** The copies of an agent that has this disk, starts no hosts, and looks for lost copies with each report. */
export function replicasOn(disk: Disk): Replicas {
  const pool = new HostPool<ReplicaHostMethods, AgentMethods>({
    entry: './replica-host.js',
    residentsMax: 1,
    prepare: () => undefined,
    lost: () => undefined,
  });
  return new Replicas([disk], pool, pino({ level: 'silent' }), 0);
}

/** False without the right to mount: a read-only or a full file system can't be made then. */
export function canMount(): boolean {
  if (mountTmpfs('/mnt', 'size=4m') !== 0) return false;
  spawnSync('umount', ['/mnt']);
  return true;
}

export function mountTmpfs(folder: string, options: string): number | null {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' }).status;
}
