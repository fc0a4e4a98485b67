/** What is done to a copy before the power fails: each history leads through writes whose order on the disk matters. */
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import type { CrashHistory } from './crash-history.js';

const MIB = 1024 * 1024;
export const CRASH_VOLUME_BYTES = 40 * MIB;

const random = new SeededRandom(1);
const bytes = (blocks: number) => random.bytes(blocks * 4096);

export type History = (copy: CrashHistory) => Promise<void>;

export const CRASH_HISTORIES: Record<string, History> = {
  'writes, flushes and FUA': async (copy) => {
    await Promise.all([copy.write(0, bytes(3)), copy.write(5, bytes(2))]);
    await copy.flush();
    await copy.write(1, bytes(1));
    await copy.write(6, bytes(2), true);
    await Promise.all([copy.write(0, bytes(1)), copy.flush(), copy.write(9, bytes(4))]);
    await copy.zero(0, 2);
    await copy.flush();
  },
  'a snapshot, and writes over it': async (copy) => {
    await copy.write(0, bytes(6));
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.write(2, bytes(2));
    await copy.zero(4, 1);
    await copy.flush();
    await copy.write(0, bytes(1), true);
  },
  'marks: cleared, and set again': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.clearIntent();
    await copy.write(1, bytes(2));
    await copy.flush();
    await copy.clearIntent();
    await copy.open(2);
    await copy.write(3, bytes(1));
  },
  'space that is given up and taken again': async (copy) => {
    await copy.write(0, bytes(16));
    await copy.flush();
    await copy.zero(0, 16);
    // More than a block disk has allocated for the copy in advance: space that is free by then is used.
    await Promise.all([copy.flush(), copy.write(16, bytes(3)), copy.spend().then(() => copy.spend())]);
    await copy.write(20, bytes(2), true);
    await copy.zero(16, 16);
    await copy.write(0, bytes(2), true);
    await copy.write(17, bytes(2), true);
  },
  'zeros over a snapshot, and a write among them': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.spend();
    await copy.giveBack();
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.zero(0, 16);
    await copy.flush();
    await copy.spend();
    await copy.write(3, bytes(1), true);
  },
  'a revert': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(4));
    await copy.snapshot(id);
    await copy.write(1, bytes(4));
    await copy.clearIntent();
    await copy.revert(id);
    await copy.write(2, bytes(1), true);
  },
  'two layers that are merged': async (copy) => {
    const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
    for (const id of ids) {
      await copy.write(id === ids[0] ? 0 : 2, bytes(4));
      await copy.snapshot(id);
    }
    await copy.write(1, bytes(1), true);
    await copy.purge(ids[0]);
    await copy.write(3, bytes(1), true);
  },
  'a layer pruned beneath the head': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(6));
    await copy.snapshot(id);
    await copy.write(2, bytes(3));
    await copy.purge(id);
    await copy.write(0, bytes(1), true);
  },
  'flushes beside a purge of the layer beneath': async (copy) => {
    const id = '11111111-1111-4111-8111-111111111111';
    await copy.write(0, bytes(6));
    await copy.snapshot(id);
    await copy.write(2, bytes(2));
    await Promise.all([copy.purge(id), copy.flush()]);
    await copy.write(0, bytes(1));
    await Promise.all([copy.flush(), copy.purge(id)]);
    await copy.write(5, bytes(1), true);
  },
  'an overwrite after the copy was opened again': async (copy) => {
    await copy.write(0, bytes(3));
    await copy.flush();
    await copy.reopen();
    await copy.write(1, bytes(1));
    await copy.flush();
    await copy.write(2, bytes(1), true);
  },
  'an expansion': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.snapshot('11111111-1111-4111-8111-111111111111', CRASH_VOLUME_BYTES + 300 * MIB);
    await copy.write(1, bytes(2), true);
  },
  'becoming the target of a rebuild': async (copy) => {
    await copy.write(0, bytes(2));
    await copy.snapshot('11111111-1111-4111-8111-111111111111');
    await copy.write(1, bytes(2));
    await copy.prepare();
  },
};
