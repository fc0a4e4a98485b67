/** The agent's own files, each with how it is written and read by the agent, for the tests that harm them. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import type { Structure } from '@holdfast/testkit/damage.js';
import { makeIdentity, readIdentity } from '../src/disks/identity.js';
import { KnownDisks } from '../src/disks/known-disks.js';
import { readFolderStamp, storedStampAfter, writeFolderStamp } from '../src/disks/stored-stamp.js';
import { IdentityFolder } from '../src/identity/stored-identity.js';
import { controlSecret } from '../src/secrets.js';

const DISK_ID = asId<DiskId>('01a20000-0000-7000-8000-000000000001');
const IDENTITY = {
  nodeId: '01a20000-0000-7000-8000-000000000003',
  clusterId: '01a20000-0000-7000-8000-000000000004',
  keyPem: '-----BEGIN PRIVATE KEY-----\nthe key of the node\n-----END PRIVATE KEY-----\n',
  certificatePem: 'its certificate, in PEM',
  authorities: ['an authority that it trusts, in PEM'],
  receivedAtMs: 1_795_000_000_000,
  lifeMs: 86_400_000,
};

export const STRUCTURES: readonly Structure[] = [
  {
    name: "a folder disk's identity",
    writers: ['disks/identity.ts'],
    refusals: ['disk.wrong_identity'],
    make: async (folder) => {
      await makeIdentity(folder, DISK_ID);
      return { file: path.join(folder, 'holdfast-disk.json'), read: () => readIdentity(folder) };
    },
  },
  {
    name: "a folder disk's stamp",
    writers: ['disks/stored-stamp.ts'],
    refusals: ['disk.wrong_identity'],
    make: async (folder) => {
      await writeFolderStamp(folder, storedStampAfter(storedStampAfter(undefined, true), false));
      return { file: path.join(folder, 'holdfast-stamp.json'), read: () => readFolderStamp(folder) };
    },
  },
  {
    name: 'the list of disks',
    writers: ['disks/known-disks.ts'],
    refusals: ['agent.state_damaged'],
    make: async (folder) => {
      const disks = await KnownDisks.load(folder);
      await disks.remember('/var/lib/holdfast/disk-1', DISK_ID);
      await disks.noteRemoved('/var/lib/holdfast/disk-0', true);
      return { file: disks.path, read: () => KnownDisks.load(folder) };
    },
  },
  {
    name: 'the identity of the node: key, certificate, authorities',
    writers: ['identity/stored-identity.ts'],
    refusals: ['agent.state_damaged'],
    make: async (state) => {
      const folder = await IdentityFolder.open(state);
      await folder.write(IDENTITY);
      return { file: path.join(state, 'identity/identity.json'), read: () => folder.read() };
    },
  },
  {
    name: 'the key to join with',
    writers: ['identity/stored-identity.ts'],
    refusals: ['agent.state_damaged'],
    make: async (state) => {
      const folder = await IdentityFolder.open(state);
      await folder.nextKey(() => IDENTITY.keyPem);
      return {
        file: path.join(state, 'identity/next-key.pem'),
        read: () => folder.nextKey(() => 'another key'),
      };
    },
  },
  {
    name: 'the control secret',
    writers: ['secrets.ts'],
    refusals: [],
    also: {
      told: 'made anew',
      when: () => true,
      because: 'the next heartbeat tells the control plane of it, and nothing else knows it',
    },
    make: async (folder) => {
      const file = path.join(folder, 'control-secret');
      const secret = await controlSecret(folder);
      const read = async () => {
        const harmed = await fs.readFile(file);
        const told = await controlSecret(folder);
        const isMade = !(await fs.readFile(file)).equals(harmed);
        return isMade ? 'made anew' : told === secret ? 'the same' : told;
      };
      return { file, read };
    },
  },
];
