/** Commands of an engine on disks that refuse: at each call that the command makes on a file, by each error. */
import crypto from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type Cluster,
  expectBytes,
  MIB,
  modes,
  until,
  useClusters,
  write,
} from '../../test/engine-cluster.js';
import { RefusingDisks } from '../../test/refusing-disks.js';
import type { Engine } from './engine.js';

const { cluster } = useClusters();

const snapshotNamed = (name: string) => ({
  id: crypto.randomUUID(),
  name,
  origin: 'user' as const,
  createdAt: '2026-01-01T00:00:00Z',
});

const BASE = snapshotNamed('base');

/** Request of each command on a volume with a snapshot and later writes. */
const COMMANDS: Readonly<Record<string, (engine: Engine) => Promise<void>>> = {
  snapshot: ({ snapshots }) => snapshots.take(snapshotNamed('another')),
  revert: ({ snapshots }) => snapshots.revert(BASE.id),
  expand: ({ snapshots }) => snapshots.expand(512 * MIB),
  remove: ({ snapshots }) => snapshots.remove(BASE.id),
  purge: ({ snapshots }) => snapshots.purge(),
};

let disks: RefusingDisks | undefined;
afterEach(() => {
  disks?.uninstall();
});

/** Three copies with a snapshot, and writes since; a second snapshot is marked as removed, for a purge. */
async function aVolume(): Promise<{ volume: Cluster; engine: Engine; data: Buffer }> {
  const volume = await cluster(3);
  const engine = await volume.start(1);
  const data = crypto.randomBytes(MIB);
  await write(engine, 0, data);
  await engine.snapshots.take(BASE);
  await write(engine, 2 * MIB, data);
  const gone = snapshotNamed('gone');
  await engine.snapshots.take(gone);
  await write(engine, 4 * MIB, data);
  await engine.snapshots.take(snapshotNamed('last'));
  await engine.snapshots.remove(gone.id);
  await engine.device.flush();
  return { volume, engine, data };
}

describe.each(Object.keys(COMMANDS))('a %s', (name) => {
  test.each([
    { code: 'ENOSPC', copies: 3 },
    { code: 'ENOSPC', copies: 1 },
    { code: 'EDQUOT', copies: 3 },
    { code: 'EFBIG', copies: 3 },
    { code: 'EROFS', copies: 3 },
    { code: 'EIO', copies: 3 },
  ] as const)(
    'that $copies of three disks refuse with $code, at any call, costs no copy',
    async (refused) => {
      const { volume, engine, data } = await aVolume();
      disks = new RefusingDisks();
      disks.install();
      const roots = volume.copies.slice(0, refused.copies).map(({ node }) => node.disk);
      const before = await engine.snapshots.list();
      let refusals = 0;
      // Ends with the first call that the command no longer reaches: it has then succeeded.
      for (let from = 1; ; from += 1) {
        disks.refuse(roots, from, refused.code);
        const error = await COMMANDS[name]?.(engine).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const asked = disks.recover();
        expect({ from, modes: modes(engine) }).toEqual({ from, modes: ['RW', 'RW', 'RW'] });
        if (asked < from) expect(error).toBeUndefined();
        // What is refused after the change, such as room for the next one, is no error.
        if (asked < from || (error === undefined && refused.code === 'EROFS' && name !== 'purge')) break;
        // A purge continues later, and its failure is no error.
        if (name === 'purge') continue;
        refusals += 1;
        expect(error).toMatchObject({ code: expect.stringMatching(/^disk\./) });
        const held = (await engine.snapshots.list()).map(({ id }) => id);
        // What a revert has begun with stays where the disk has become read-only before it could be taken back.
        const isLeft = refused.code === 'EROFS' && name === 'revert';
        expect(isLeft ? held.slice(0, before.length) : held).toEqual(before.map(({ id }) => id));
      }
      if (name === 'snapshot' || name === 'expand' || name === 'revert') expect(refusals).toBeGreaterThan(2);
      await expectBytes(engine, 0, data);
      await write(engine, 6 * MIB, data);
      await engine.snapshots.take(snapshotNamed('after'));
      await until(engine, () => modes(engine).every((mode) => mode === 'RW'));
      await engine.stop();
      expect((await volume.checksums()).size).toBe(1);
    },
  );
});
