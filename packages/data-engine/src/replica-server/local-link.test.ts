/** The connection of an engine to a copy in its own process: it has to fail, hang, close and be fenced as one over NBD does. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import { contiguous, type NbdWrite, type Payload, type WriteListener } from '../nbd/export.js';
import { formatExportName } from '../protocol/export-names.js';
import { Replica } from '../replica/replica.js';
import { LocalLink } from './local-link.js';
import { ReplicaService } from './replica-service.js';

const SIZE_BYTES = 16 * 1024 * 1024;
const block = (value: number) => Buffer.alloc(4096, value);
const PLAIN = { fua: false };

/** An export whose writes end when the test says so. */
class HeldExport extends MemoryExport {
  readonly held: (() => void)[] = [];

  override async write(offset: number, payload: Payload): Promise<void> {
    await new Promise<void>((resolve) => this.held.push(resolve));
    await super.write(offset, payload);
  }
}

describe('a link to a copy in the same process', () => {
  let nowMs: number;
  let target: HeldExport;
  let link: LocalLink;
  beforeEach(() => {
    nowMs = 1_000;
    target = new HeldExport(SIZE_BYTES);
    link = new LocalLink(target, { nowMs: () => nowMs });
  });

  test('fails what is in flight when it is closed, and ends for the copy only when that has ended there', async () => {
    const reasons: string[] = [];
    link.onClose(({ message }) => reasons.push(message));
    const written = link.write(0, [block(1)], 4096, PLAIN);
    let hasEnded = false;
    void link.ended.then(() => {
      hasEnded = true;
    });
    link.destroy(new Error('dropped'));
    link.destroy(new Error('dropped twice'));
    await expect(written).rejects.toThrow('dropped');
    await expect(link.write(0, [block(2)], 4096, PLAIN)).rejects.toThrow('dropped');
    expect(link.readNow(0, 4096)).toBeUndefined();
    expect({ reasons, closed: link.closed, hasEnded, begun: target.held.length }).toEqual({
      reasons: ['dropped'],
      closed: true,
      hasEnded: false,
      begun: 1,
    });
    target.held[0]?.();
    await link.ended;
  });

  test('reads into memory of the caller, and leaves that alone once it is closed', async () => {
    target.bytes.fill(7);
    const memory = Buffer.alloc(4096);
    await link.readEachInto([{ offset: 4096, buffer: memory }]);
    expect(memory.equals(Buffer.alloc(4096, 7))).toBe(true);
    const cut = link.readEachInto([{ offset: 0, buffer: memory }]);
    link.destroy(new Error('dropped'));
    await expect(cut).rejects.toThrow('dropped');
    memory.fill(1);
    await link.ended;
    expect(memory.equals(Buffer.alloc(4096, 1))).toBe(true);
  });

  test('tells of a write once: that it was cut off, and not what became of it later', async () => {
    const listening = Object.assign(target, {
      beginWrite: <Tag>(_: NbdWrite, listener: WriteListener<Tag>, tag: Tag) =>
        void target.held.push(() => listener.written(tag, undefined)),
    });
    const told: unknown[] = [];
    const listener = { written: (tag: string, failure: unknown) => told.push([tag, String(failure)]) };
    const write = { offset: 0, lengthBytes: 4096, payload: [block(1)], fua: false };
    link.beginWrite(write, listener, 'first');
    link.beginWrite(write, listener, 'second');
    listening.held[0]?.();
    link.destroy(new Error('dropped'));
    listening.held[1]?.();
    await link.ended;
    link.beginWrite(write, listener, 'third');
    await Promise.resolve();
    await Promise.resolve();
    expect(told).toEqual([
      ['first', 'undefined'],
      ['second', 'Error: dropped'],
      ['third', 'Error: dropped'],
    ]);
  });

  test('counts a request that hangs as silence, unless something else was answered meanwhile', async () => {
    expect(link.silentForMs(5_000)).toBe(0);
    const hanging = link.write(0, [block(1)], 4096, PLAIN);
    nowMs = 4_000;
    expect(link.silentForMs(nowMs)).toBe(3_000);
    link.excuseSilence();
    nowMs = 4_500;
    expect(link.silentForMs(nowMs)).toBe(500);
    // A request that was sent later is answered: the first one is stuck, and not the copy as a whole.
    await link.ping();
    expect({ heardAtMs: link.heardAtMs, silentMs: link.silentForMs(nowMs) }).toEqual({
      heardAtMs: 4_500,
      silentMs: 500,
    });
    target.held[0]?.();
    await hanging;
    expect(link.silentForMs(9_000)).toBe(0);
  });

  test('answers with the errors that NBD would carry', async () => {
    target.failure = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const errors = await Promise.all(
      [
        link.flush(),
        link.read(SIZE_BYTES - 4096, 8192),
        link.write(SIZE_BYTES, [block(1)], 4096, PLAIN),
        link.trim(SIZE_BYTES, 4096, PLAIN),
      ].map((request) =>
        request.then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    expect(errors.every((error) => error instanceof NbdError)).toBe(true);
    expect(errors).toMatchObject([
      { errno: NbdErrno.NoSpace, message: 'no space left' },
      { errno: NbdErrno.Invalid },
      { errno: NbdErrno.NoSpace },
      { errno: NbdErrno.NoSpace },
    ]);
  });
});

describe('a copy that its process serves to an engine beside it', () => {
  let disk: string;
  let service: ReplicaService;
  const replicaId = crypto.randomUUID();
  const nameAt = (epoch: number, secret = 'secret') =>
    formatExportName({ kind: 'replica', replicaId, epoch, secret });

  beforeEach(async () => {
    disk = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-here-'));
    const volumeId = crypto.randomUUID();
    const spec = { replicaId, volumeId, diskId: volumeId, sizeBytes: SIZE_BYTES, secret: 'secret' };
    await Replica.create(disk, { ...spec, record: null });
    service = new ReplicaService(() => {
      throw new Error('nothing is pulled here');
    });
    await service.open(disk, replicaId);
  });
  afterEach(async () => {
    await service.closeAll(0);
    await fs.rm(disk, { recursive: true, force: true });
  });

  test('is reached by its name, secret and epoch only', async () => {
    await service.command(replicaId, 'open', { epoch: 2 });
    const elsewhere = {
      kind: 'replica' as const,
      replicaId: crypto.randomUUID(),
      epoch: 2,
      secret: 'secret',
    };
    expect(await service.connectHere(formatExportName(elsewhere))).toBeUndefined();
    await expect(service.connectHere(nameAt(2, 'guess'))).rejects.toMatchObject({
      code: 'replica.not_found',
    });
    await expect(service.connectHere(nameAt(1))).rejects.toMatchObject({ code: 'engine.stale_epoch' });
    const link = await service.connectHere(nameAt(2));
    await link?.write(4096, [block(7)], 4096, { fua: true });
    expect(contiguous((await link?.read(4096, 4096)) ?? []).equals(block(7))).toBe(true);
  });

  test('cuts the link when a newer engine opens it, and refuses what was on its way', async () => {
    await service.command(replicaId, 'open', { epoch: 1 });
    const link = await service.connectHere(nameAt(1));
    let wasCut = false;
    link?.onClose(() => {
      wasCut = true;
    });
    const opening = service.command(replicaId, 'open', { epoch: 2 });
    // The opening has begun, and stores the epoch.
    await new Promise((resolve) => setImmediate(resolve));
    const late = link?.write(0, [block(9)], 4096, PLAIN);
    await opening;
    await expect(late).rejects.toThrow();
    const newer = await service.connectHere(nameAt(2));
    expect(contiguous((await newer?.read(0, 4096)) ?? []).equals(block(0))).toBe(true);
    expect(wasCut).toBe(true);
  });

  test('is not verified while it is connected', async () => {
    await service.command(replicaId, 'open', { epoch: 1 });
    const link = await service.connectHere(nameAt(1));
    const checked = service.checksum(replicaId);
    await link?.write(0, [block(3)], 4096, { fua: true });
    link?.close();
    const { checksum } = await checked;
    await service.command(replicaId, 'open', { epoch: 2 });
    expect(checksum).toBe((await service.checksum(replicaId)).checksum);
  });
});
