import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { eventually } from '@holdfast/testkit/eventually.js';
import { runTool } from '@holdfast/testkit/nbd-tools.js';
import { TestCertificates } from '@holdfast/testkit/test-certificates.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryExport } from '../../test/memory-export.js';
import { TLS_EXPORT_NAME, TlsServer } from '../../test/tls-server.js';
import { Certificates } from './certificates.js';
import { NbdClient } from './client.js';
import { requireTls } from './client-tls.js';
import { contiguous } from './export.js';
import { NbdServer } from './server.js';

const MIB = 1024 * 1024;

let folder: string;
let ours: TestCertificates;
let strangers: TestCertificates;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-tls-'));
  ours = new TestCertificates(path.join(folder, 'ours'));
  strangers = new TestCertificates(path.join(folder, 'strangers'));
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  requireTls(undefined);
  for (const stop of stops.splice(0).reverse()) await stop();
});

describe('TLS by STARTTLS', () => {
  test('our client writes and reads through a tunnel', async () => {
    const device = new MemoryExport(16 * MIB);
    const server = await startServer(device, 'require');
    requireTls(new Certificates(ours.files));
    const client = await connect(server);
    const data = crypto.randomBytes(9 * MIB + 4096);
    await client.write(MIB, [data], data.length, { fua: true });
    expect(device.bytes.subarray(MIB, MIB + data.length).equals(data)).toBe(true);
    const reads = Array.from({ length: 64 }, (_, i) => client.read(MIB + i * 4096, 4096));
    expect(
      Buffer.concat((await Promise.all(reads)).map(contiguous)).equals(data.subarray(0, 64 * 4096)),
    ).toBe(true);
    expect(contiguous(await client.read(MIB, data.length)).equals(data)).toBe(true);
  });

  test('nbdinfo and nbdcopy work with certificates of the CA', async () => {
    const device = new MemoryExport(16 * MIB);
    crypto.randomFillSync(device.bytes, 0, 8 * MIB);
    device.allocated.fill(1, 0, 2048);
    const server = await startServer(device, 'require');
    const info = await runTool('nbdinfo', ['--json', server.uri(ours)]);
    expect(info).toMatchObject({ code: 0 });
    expect(JSON.parse(info.stdout)).toMatchObject({ TLS: true, exports: [{ 'export-size': 16 * MIB }] });
    const file = path.join(folder, 'copied');
    expect(await runTool('nbdcopy', ['--connections=4', server.uri(ours), file])).toMatchObject({ code: 0 });
    expect(fs.readFileSync(file).equals(device.bytes)).toBe(true);
    fs.writeFileSync(file, crypto.randomBytes(16 * MIB));
    expect(await runTool('nbdcopy', ['--connections=4', file, server.uri(ours)])).toMatchObject({ code: 0 });
    expect(fs.readFileSync(file).equals(device.bytes)).toBe(true);
  });

  test('qemu-img and qemu-io work with tls-creds-x509', async () => {
    const device = new MemoryExport(MIB);
    const { port } = await startServer(device, 'require');
    const creds = ['--object', `tls-creds-x509,id=tls,dir=${ours.folder},endpoint=client`];
    const image = `driver=nbd,host=127.0.0.1,port=${port},export=${TLS_EXPORT_NAME},tls-creds=tls`;
    const info = await runTool('qemu-img', ['info', ...creds, '--image-opts', image]);
    expect(info).toMatchObject({ code: 0, stdout: expect.stringContaining('virtual size: 1 MiB') });
    const write = ['-c', 'write -P 90 0 64k', '-c', 'read -P 90 0 64k'];
    const io = await runTool('qemu-io', [...creds, '--image-opts', image, ...write]);
    expect(io).toMatchObject({ code: 0, stdout: expect.not.stringContaining('verification failed') });
    expect(device.bytes.subarray(0, 65536).equals(Buffer.alloc(65536, 90))).toBe(true);
  });

  test('a client that shows another CA, or none, gets no further', async () => {
    const server = await startServer(new MemoryExport(MIB), 'require');
    const wrong = fs.mkdtempSync(path.join(folder, 'wrong-'));
    for (const file of ['client-cert.pem', 'client-key.pem']) {
      fs.copyFileSync(path.join(strangers.folder, file), path.join(wrong, file));
    }
    fs.copyFileSync(path.join(ours.folder, 'ca-cert.pem'), path.join(wrong, 'ca-cert.pem'));
    const none = fs.mkdtempSync(path.join(folder, 'none-'));
    fs.copyFileSync(path.join(ours.folder, 'ca-cert.pem'), path.join(none, 'ca-cert.pem'));
    for (const folderOfClient of [wrong, none]) {
      const uri = `nbds://127.0.0.1:${server.port}/${TLS_EXPORT_NAME}?tls-certificates=${folderOfClient}`;
      expect(await runTool('nbdinfo', ['--size', uri])).toMatchObject({ code: 1, stdout: '' });
    }
    expect(server.failures).toHaveLength(2);
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({ code: 0 });
  });

  test('our client trusts no server of another CA or another host', async () => {
    const server = await startServer(new MemoryExport(MIB), 'require');
    requireTls(new Certificates({ ...ours.files, caFile: strangers.files.caFile }));
    await expect(connect(server)).rejects.toThrow(/certificate|issuer/);
    requireTls(new Certificates(ours.files));
    await expect(NbdClient.connect({ ...server.address, host: 'localhost' }, 5000)).rejects.toThrow(
      /altnames/,
    );
    await connect(server);
  });

  test('renewed certificates are in use without a restart, and half-written ones are not', async () => {
    const server = await startServer(new MemoryExport(MIB), 'require');
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({ code: 0 });
    fs.writeFileSync(ours.files.certFile, 'half a certificate');
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({ code: 0 });
    ours.sign('server', '127.0.0.9');
    // The new certificate is for another address, so a client that still gets through was shown the old one.
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({ code: 1 });
    ours.sign('server');
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({ code: 0 });
  });
});

const EXPORT_NAME = Buffer.concat([optionHead(1, TLS_EXPORT_NAME.length), Buffer.from(TLS_EXPORT_NAME)]);

function optionHead(code: number, lengthBytes = 0): Buffer {
  const head = Buffer.from('IHAVEOPT\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32BE(code, 8);
  head.writeUInt32BE(lengthBytes, 12);
  return head;
}

function readRequest(lengthBytes: number): Buffer {
  const frame = Buffer.alloc(28);
  frame.writeUInt32BE(0x25609513, 0);
  frame.writeUInt32BE(lengthBytes, 24);
  return frame;
}

/** A manual connection, up to the server's agreement to STARTTLS. */
async function startedTls({ port }: TlsServer, flags: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  stops.push(() => void socket.destroy());
  socket.write(Buffer.concat([Buffer.from([0, 0, 0, flags]), optionHead(5)]));
  await receive(socket, 18 + 20);
  return socket;
}

/** The next `count` bytes; no more arrive, as the server only answers. */
function receive(socket: net.Socket, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < count) return;
      socket.pause();
      socket.off('data', onData);
      resolve(received);
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`closed after ${received.length} of ${count} bytes`)));
  });
}

async function raw(server: TlsServer, flags: number): Promise<tls.TLSSocket> {
  const socket = await startedTls(server, flags);
  const secure = tls.connect({
    socket,
    host: '127.0.0.1',
    ...(await new Certificates(ours.files).current()),
  });
  secure.on('error', () => secure.destroy());
  await once(secure, 'secureConnect');
  return secure;
}

describe('inside a tunnel', () => {
  test.each([
    { name: 'with padding', flags: 1, replyBytes: 134 },
    { name: 'without', flags: 3, replyBytes: 10 },
  ])('what the client chose before STARTTLS holds: EXPORT_NAME $name', async ({ flags, replyBytes }) => {
    const device = new MemoryExport(MIB);
    device.bytes.fill(7);
    const secure = await raw(await startServer(device, 'require'), flags);
    secure.write(Buffer.concat([EXPORT_NAME, readRequest(4096)]));
    const expected = replyBytes + 16 + 4096;
    const received = await receive(secure, expected);
    expect(received.length).toBe(expected);
    expect(received.readUInt32BE(4)).toBe(MIB);
    expect(received.subarray(-4096).equals(Buffer.alloc(4096, 7))).toBe(true);
  });

  test('a second STARTTLS is an error, and the connection goes on', async () => {
    const secure = await raw(await startServer(new MemoryExport(MIB), 'require'), 3);
    secure.write(Buffer.concat([optionHead(5), EXPORT_NAME]));
    const received = await receive(secure, 20 + 'this is TLS already'.length + 10);
    expect(received.readUInt32BE(12)).toBe(0x80000003);
  });

  test('a client that never reads makes the far end stop, as without TLS', async () => {
    const device = new MemoryExport(MIB);
    let reads = 0;
    const read = device.read.bind(device);
    device.read = (offset, lengthBytes) => {
      reads += 1;
      return read(offset, lengthBytes);
    };
    const server = await startServer(device, 'require');
    const secure = await raw(server, 3);
    secure.pause();
    const asked = 2000;
    secure.write(EXPORT_NAME);
    for (let i = 0; i < asked; i += 1) secure.write(readRequest(64 * 1024));
    requireTls(new Certificates(ours.files));
    const other = await connect(server);
    let before = -1;
    await eventually(
      'the server stops reading on',
      async () => {
        await other.read(0, 4096);
        const still = reads > 100 && reads - before === 1;
        before = reads;
        return still;
      },
      (still) => still,
    );
    expect(reads).toBeLessThan(asked / 2);
    let arrivedBytes = 0;
    secure.on('data', (chunk: Buffer) => {
      arrivedBytes += chunk.length;
    });
    secure.resume();
    await eventually(
      'all replies',
      () => arrivedBytes,
      (bytes) => bytes === 10 + asked * (16 + 64 * 1024),
    );
  });

  test('garbage in place of the TLS handshake, and a client that goes away in it, cost one connection', async () => {
    const server = await startServer(new MemoryExport(MIB), 'require');
    const garbage = await startedTls(server, 3);
    garbage.write(crypto.randomBytes(4096));
    const away = await startedTls(server, 3);
    away.resetAndDestroy();
    await eventually(
      'both are gone',
      () => server.failures.length,
      (count) => count === 2,
    );
    requireTls(new Certificates(ours.files));
    await connect(server);
  });
});

describe('plaintext', () => {
  const plain = (server: TlsServer, name = '') => `nbd://127.0.0.1:${server.port}/${name}`;

  test('where TLS is required no plaintext client learns a name, or whether one exists', async () => {
    const server = await startServer(new MemoryExport(MIB), 'require');
    for (const args of [
      ['--list', plain(server)],
      ['--size', plain(server, TLS_EXPORT_NAME)],
      ['--size', plain(server, 'x')],
    ]) {
      const { code, stdout, stderr } = await runTool('nbdinfo', args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).not.toContain('disk\n');
    }
    await expect(connect(server)).rejects.toThrow('this server wants STARTTLS first');
  });

  test('where TLS is allowed both ways work', async () => {
    const server = await startServer(new MemoryExport(MIB), 'allow');
    expect(await runTool('nbdinfo', ['--size', plain(server, TLS_EXPORT_NAME)])).toMatchObject({
      code: 0,
      stdout: `${MIB}\n`,
    });
    expect(await runTool('nbdinfo', ['--size', server.uri(ours)])).toMatchObject({
      code: 0,
      stdout: `${MIB}\n`,
    });
    const listed = await runTool('nbdinfo', ['--list', server.uri(ours, '')]);
    expect(listed).toMatchObject({ code: 0, stdout: expect.not.stringContaining('export=') });
  });

  test('a server without TLS is refused by a node that requires it', async () => {
    const device = new MemoryExport(MIB);
    const server = new NbdServer({
      directory: { describe: () => device },
      accept: (socket) => socket.destroy(),
    });
    const { port } = await server.listen('127.0.0.1', 0);
    stops.push(() => server.close());
    requireTls(new Certificates(ours.files));
    const connecting = NbdClient.connect({ host: '127.0.0.1', port, exportName: TLS_EXPORT_NAME }, 5000);
    await expect(connecting).rejects.toThrow('the server does no TLS, which this node requires');
  });
});

async function connect({ address }: TlsServer): Promise<NbdClient> {
  const client = await NbdClient.connect(address, 5000);
  stops.push(() => client.close());
  return client;
}

function startServer(device: MemoryExport, offer: 'allow' | 'require'): Promise<TlsServer> {
  return TlsServer.start(device, offer, { folder, files: ours.files, stops });
}
