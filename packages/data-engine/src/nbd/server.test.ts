import crypto from 'node:crypto';
import net from 'node:net';
import { hasPrograms, runTool } from '@holdfast/testkit/nbd-tools.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { serveOnPort } from '../../test/serve-export.js';
import { NbdClient } from './client.js';
import { Command, NbdErrno, PAYLOAD_BYTES_MAX } from './constants.js';
import { contiguous } from './export.js';

const MIB = 1024 * 1024;
const NAME = 'disk.with.secret';

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const CLIENT_FLAGS = Buffer.from([0, 0, 0, 3]);

describe('client and server', () => {
  test('write, read back, zero, trim and report what is allocated', async () => {
    const device = new MemoryExport(16 * MIB);
    const client = await connect(await serve(device));
    const data = crypto.randomBytes(3 * MIB);
    await client.write(MIB, [data.subarray(0, 1000), data.subarray(1000)], data.length, { fua: false });
    expect(contiguous(await client.read(MIB, data.length)).equals(data)).toBe(true);

    await client.writeZeroes(MIB, 4096, { fua: false, mayPunch: true });
    await client.trim(2 * MIB, MIB, { fua: true });
    expect(contiguous(await client.read(MIB, 4096)).equals(Buffer.alloc(4096))).toBe(true);
    expect(await client.blockStatus(0, 16 * MIB, 100)).toEqual([
      { lengthBytes: MIB + 4096, allocated: false },
      { lengthBytes: MIB - 4096, allocated: true },
      { lengthBytes: MIB, allocated: false },
      { lengthBytes: MIB, allocated: true },
      { lengthBytes: 12 * MIB, allocated: false },
    ]);
    await client.flush();
    expect(device.flushes).toBe(1);
  });

  test('many requests in flight on one connection keep their replies apart', async () => {
    const device = new MemoryExport(8 * MIB);
    const client = await connect(await serve(device));
    const blocks = Array.from({ length: 512 }, () => crypto.randomBytes(4096));
    await Promise.all(blocks.map((block, i) => client.write(i * 4096, [block], 4096, { fua: false })));
    const read = await Promise.all(blocks.map((_, i) => client.read(i * 4096, 4096)));
    expect(read.every((payload, i) => contiguous(payload).equals(blocks[i] ?? Buffer.alloc(0)))).toBe(true);
  });

  test('adjacent requests that arrive together are served as one, and each gets its own bytes', async () => {
    const device = new MemoryExport(8 * MIB);
    const client = await connect(await serve(device));
    const blocks = Array.from({ length: 256 }, () => crypto.randomBytes(4096));
    await Promise.all(blocks.map((block, i) => client.write(i * 4096, [block], 4096, { fua: false })));
    const read = await Promise.all(blocks.map((_, i) => client.read(i * 4096, 4096)));
    expect(read.every((payload, i) => contiguous(payload).equals(blocks[i] ?? Buffer.alloc(0)))).toBe(true);
    expect(Buffer.concat(blocks).equals(device.bytes.subarray(0, MIB))).toBe(true);
    // 32 blocks at most in one, and one chunk of the network ends where it ends.
    expect([device.writes < 128, device.reads < 128]).toEqual([true, true]);
    const before = device.writes;
    await Promise.all(
      blocks.map((block, i) => client.write((i * 4096 * 7) % MIB, [block], 4096, { fua: true })),
    );
    expect(device.writes - before).toBe(256);
  });

  test('of requests that were joined, only those fail that fail by themselves', async () => {
    const device = new MemoryExport(MIB);
    const client = await connect(await serve(device));
    const last = MIB - 4096;
    const outcomes = await Promise.allSettled([
      client.write(last - 4096, [Buffer.alloc(4096, 1)], 4096, { fua: false }),
      client.write(last, [Buffer.alloc(4096, 2)], 4096, { fua: false }),
      client.write(MIB, [Buffer.alloc(4096, 3)], 4096, { fua: false }),
      client.read(last, 4096),
      client.read(MIB, 4096),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(contiguous(await client.read(last - 4096, 8192))).toEqual(
      Buffer.concat([Buffer.alloc(4096, 1), Buffer.alloc(4096, 2)]),
    );
  });

  test.each([
    { name: 'a read past the end', run: (c: NbdClient) => c.read(MIB - 4096, 8192), errno: NbdErrno.Invalid },
    {
      name: 'a write past the end',
      run: (c: NbdClient) => c.write(MIB, [Buffer.alloc(4096)], 4096, { fua: false }),
      errno: NbdErrno.NoSpace,
    },
    {
      name: 'an offset beyond 2^53',
      run: (c: NbdClient) => c.read(Number.MAX_SAFE_INTEGER, 4096),
      errno: NbdErrno.Invalid,
    },
    {
      name: 'an oversized read',
      run: (c: NbdClient) => c.read(0, PAYLOAD_BYTES_MAX + 1),
      errno: NbdErrno.Overflow,
    },
    { name: 'an empty read', run: (c: NbdClient) => c.read(0, 0), errno: NbdErrno.Invalid },
  ])('$name is an error, and the connection goes on', async ({ run, errno }) => {
    const client = await connect(await serve(new MemoryExport(MIB)));
    await expect(run(client)).rejects.toMatchObject({ name: 'NbdError', errno });
    expect(contiguous(await client.read(0, 4096)).length).toBe(4096);
  });

  test('a read-only export refuses changes', async () => {
    const client = await connect(await serve(new MemoryExport(MIB, true)));
    const write = client.write(0, [Buffer.alloc(4096)], 4096, { fua: false });
    await expect(write).rejects.toMatchObject({ errno: NbdErrno.Perm });
  });

  test('a failing device fails the request, not the connection', async () => {
    const device = new MemoryExport(MIB);
    const client = await connect(await serve(device));
    device.failure = new Error('broken');
    await expect(client.read(0, 4096)).rejects.toMatchObject({ errno: NbdErrno.Io });
    device.failure = undefined;
    await client.read(0, 4096);
  });

  test('an unknown export and a wrong secret look the same', async () => {
    const port = await serve(new MemoryExport(MIB));
    await expect(connect(port, 'disk.with.wrong')).rejects.toThrow('no such export');
    await expect(connect(port, 'nothing')).rejects.toThrow('no such export');
  });

  test('requests in flight fail when the server goes away', async () => {
    const device = new MemoryExport(MIB);
    const port = await serve(device);
    const client = await connect(port);
    const closed = new Promise((resolve) => client.onClose(resolve));
    for (const stop of stops.splice(0, 1)) await stop();
    await closed;
    await expect(client.read(0, 4096)).rejects.toThrow();
  });
});

describe('broken clients', () => {
  const start = [CLIENT_FLAGS, option(7, goData(NAME))];
  test.each<{ name: string; frames: Buffer[] }>([
    { name: 'unknown client flags', frames: [Buffer.from([0xff, 0, 0, 3])] },
    { name: 'a wrong option magic', frames: [CLIENT_FLAGS, Buffer.alloc(16, 1)] },
    { name: 'an oversized option', frames: [CLIENT_FLAGS, option(7, Buffer.alloc(0), 0xffffffff)] },
    { name: 'options without end', frames: [CLIENT_FLAGS, ...Array.from({ length: 70 }, () => option(3))] },
    { name: 'EXPORT_NAME of an unknown export', frames: [CLIENT_FLAGS, option(1, Buffer.from('x'))] },
    { name: 'EXPORT_NAME with a NUL behind it', frames: [CLIENT_FLAGS, option(1, Buffer.from(`${NAME}\0`))] },
    { name: 'EXPORT_NAME of 5,000 bytes', frames: [CLIENT_FLAGS, option(1, Buffer.alloc(5_000, 'x'))] },
    { name: 'ABORT', frames: [CLIENT_FLAGS, option(2)] },
    { name: 'a handshake that stalls', frames: [CLIENT_FLAGS, option(7, goData(NAME)).subarray(0, 20)] },
    { name: 'a wrong request magic', frames: [...start, request(Command.Read, 0, 4096, 1)] },
    { name: 'an oversized write', frames: [...start, request(Command.Write, 0, PAYLOAD_BYTES_MAX + 1)] },
  ])('$name closes that connection; the server lives on', async ({ frames }) => {
    const port = await serve(new MemoryExport(MIB), 300);
    const received = await converse(port, ...frames);
    expect(received.toString('latin1', 0, 8)).toBe('NBDMAGIC');
    const client = await connect(port);
    await client.read(0, 4096);
  });

  test.each([
    { name: 'GO with malformed data', frame: option(7, Buffer.alloc(3)), code: 0x80000003 },
    { name: 'GO for an unknown export', frame: option(7, goData('x')), code: 0x80000006 },
    { name: 'GO for no name', frame: option(7, goData('')), code: 0x80000006 },
    { name: 'GO with a NUL behind the name', frame: option(7, goData(`${NAME}\0`)), code: 0x80000006 },
    { name: 'GO with a line break behind the name', frame: option(7, goData(`${NAME}\n`)), code: 0x80000006 },
    { name: 'GO for 5,000 bytes', frame: option(7, goData('x'.repeat(5_000))), code: 0x80000009 },
    { name: 'LIST for a name', frame: option(3, Buffer.from(NAME)), code: 0x80000003 },
    { name: 'an unknown option', frame: option(99), code: 0x80000001 },
    { name: 'STARTTLS', frame: option(5), code: 0x80000001 },
    { name: 'a context before structured replies', frame: option(10, goData(NAME)), code: 0x80000003 },
  ])('$name is refused, and the client may go on', async ({ frame, code }) => {
    const port = await serve(new MemoryExport(MIB));
    const received = await converse(port, CLIENT_FLAGS, frame, option(2));
    expect(received.readUInt32BE(18 + 12)).toBe(code);
  });

  test.each([
    { name: 'with padding', flags: Buffer.from([0, 0, 0, 1]), replyBytes: 134 },
    { name: 'without padding', flags: CLIENT_FLAGS, replyBytes: 10 },
  ])('EXPORT_NAME, the oldest way in, works $name', async ({ flags, replyBytes }) => {
    const device = new MemoryExport(MIB);
    device.bytes.fill(7, 0, 4096);
    const port = await serve(device);
    const received = await converse(
      port,
      flags,
      option(1, Buffer.from(NAME)),
      request(0, 0, 4096),
      request(2, 0, 0),
    );
    expect(received.readUInt32BE(18 + 4)).toBe(MIB);
    expect(received.length).toBe(18 + replyBytes + 16 + 4096);
    expect(received.subarray(-4096).equals(Buffer.alloc(4096, 7))).toBe(true);
  });

  test('LIST names no export, although there is one', async () => {
    const port = await serve(new MemoryExport(MIB));
    const received = await converse(port, CLIENT_FLAGS, option(3), option(2));
    expect([received.readUInt32BE(18 + 12), received.readUInt32BE(18 + 16)]).toEqual([1, 0]);
    expect(received.toString('latin1')).not.toContain(NAME.split('.')[0]);
  });

  test('requests sent before the answer to GO are served', async () => {
    const device = new MemoryExport(MIB);
    device.bytes.fill(7, 0, 4096);
    const port = await serve(device);
    const frames = [CLIENT_FLAGS, option(7, goData(NAME)), request(0, 0, 4096), request(2, 0, 0)];
    const received = await converse(port, Buffer.concat(frames));
    expect(received.subarray(-4096).equals(Buffer.alloc(4096, 7))).toBe(true);
  });
});

describe('real tools', () => {
  test('nbdinfo, nbdcopy and qemu-io agree with our client', async () => {
    const device = new MemoryExport(8 * MIB);
    const port = await serve(device);
    const uri = `nbd://127.0.0.1:${port}/${NAME}`;
    if (hasPrograms('qemu-io')) {
      const script = [
        '-c',
        'write -P 90 1M 64k',
        '-c',
        'write -z 2M 64k',
        '-c',
        'discard 3M 1M',
        '-c',
        'flush',
      ];
      const { code, stdout } = await runTool('qemu-io', ['-f', 'raw', uri, ...script]);
      expect({ code, stdout }).toMatchObject({ code: 0 });
      expect(device.bytes.subarray(MIB, MIB + 65536).equals(Buffer.alloc(65536, 90))).toBe(true);
    }
    if (hasPrograms('nbdinfo')) {
      const info = JSON.parse((await runTool('nbdinfo', ['--json', uri])).stdout);
      expect(info.exports[0]).toMatchObject({
        'export-size': 8 * MIB,
        can_multi_conn: true,
        can_flush: true,
        can_fua: true,
        can_trim: true,
        can_zero: true,
        block_size_maximum: 32 * MIB,
        contexts: ['base:allocation'],
      });
      const list = await runTool('nbdinfo', ['--list', `nbd://127.0.0.1:${port}`]);
      expect(list).toMatchObject({ code: 0, stdout: expect.not.stringContaining('export=') });
    }
    const client = await connect(port);
    expect(client.terms).toMatchObject({ sizeBytes: 8 * MIB, structuredReplies: true, blockStatus: true });
  });
});

async function serve(device: MemoryExport, handshakeTimeoutMs = 5000): Promise<number> {
  const { port, stop } = await serveOnPort(device, { isName: (name) => name === NAME, handshakeTimeoutMs });
  stops.push(stop);
  return port;
}

async function connect(port: number, exportName = NAME): Promise<NbdClient> {
  const client = await NbdClient.connect({ host: '127.0.0.1', port, exportName }, 5000);
  stops.push(() => client.close());
  return client;
}

/** Sends raw bytes and collects the replies until the server closes. */
function converse(port: number, ...frames: Buffer[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = net.connect(port, '127.0.0.1', () => {
      for (const frame of frames) socket.write(frame);
    });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(Buffer.concat(received)));
    stops.push(() => void socket.destroy());
  });
}

function option(code: number, data: Buffer = Buffer.alloc(0), declaredBytes = data.length): Buffer {
  const head = Buffer.alloc(16);
  head.write('IHAVEOPT', 0, 'latin1');
  head.writeUInt32BE(code, 8);
  head.writeUInt32BE(declaredBytes, 12);
  return Buffer.concat([head, data]);
}

function goData(name: string): Buffer {
  const text = Buffer.from(name);
  const data = Buffer.alloc(4 + text.length + 2);
  data.writeUInt32BE(text.length, 0);
  text.copy(data, 4);
  return data;
}

function request(type: number, offset: number, lengthBytes: number, magic = 0x25609513): Buffer {
  const frame = Buffer.alloc(28);
  frame.writeUInt32BE(magic, 0);
  frame.writeUInt16BE(type, 6);
  frame.writeUInt32BE(offset, 20);
  frame.writeUInt32BE(lengthBytes, 24);
  return frame;
}
