// One end of a bare rebuild: it makes the system calls and hashes of that end of a full rebuild, and does nothing else. Arguments: its
// file, and for the target the source's port and the length. The source prints its port. Each prints, when it is done, the seconds of
// processor time that it took.
import fs from 'node:fs';
import net from 'node:net';
import { promisify } from 'node:util';
import { WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '@holdfast/data-engine/base/blake3.js';
import { alignedBytes } from '@holdfast/data-engine/disk/aligned-buffers.js';

const read = promisify(fs.read);
const write = promisify(fs.write);
const fdatasync = promisify(fs.fdatasync);
const { O_CREAT, O_DIRECT, O_RDONLY, O_RDWR } = fs.constants;

/** As many windows as a rebuild copies at once, and reads back at once (`pull-context.ts`). */
const COPIED_AT_ONCE = 6;
const VERIFIED_AT_ONCE = 2;
/** Windows after which the target's file is synced, and read back: 128 MiB. */
const SYNCED_WINDOWS = 32;

const [file = '', port, lengthBytes] = process.argv.slice(2);
if (port === undefined) await serve();
else await receive(Number(port), Number(lengthBytes));

/** Reads windows ahead, hashes each and sends it. */
async function serve(): Promise<void> {
  const fd = fs.openSync(file, O_RDONLY | O_DIRECT);
  const windows = fs.fstatSync(fd).size / WINDOW_BYTES;
  const server = net.createServer({ noDelay: true }, async (socket) => {
    // The target ends the connection when it has everything.
    socket.on('error', () => undefined);
    const buffers = Array.from({ length: COPIED_AT_ONCE }, () => alignedBytes(WINDOW_BYTES));
    let sent: Promise<void> = Promise.resolve();
    const lane = async (buffer: Buffer, first: number) => {
      for (let window = first; window < windows; window += COPIED_AT_ONCE) {
        await read(fd, buffer, 0, WINDOW_BYTES, window * WINDOW_BYTES);
        blake3Of([buffer]);
        await sent;
        sent = new Promise((resolve) => socket.write(buffer, () => resolve()));
        await sent;
      }
    };
    await Promise.all(buffers.map(lane));
    socket.end();
    tell();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast: a server that listens on TCP has an address of this kind.
  console.log((server.address() as net.AddressInfo).port);
}

/** Receives windows where they are written from, syncs the file now and then, and reads back what is synced behind that. */
async function receive(from: number, bytes: number): Promise<void> {
  const fd = fs.openSync(file, O_RDWR | O_CREAT | O_DIRECT, 0o600);
  fs.ftruncateSync(fd, bytes);
  const windows = bytes / WINDOW_BYTES;
  const free: Buffer[] = [];
  const writes = new Set<Promise<void>>();
  let synced = 0;
  let syncing: Promise<void> = Promise.resolve();
  let news: () => void = () => undefined;
  const sync = (upTo: number) => {
    const begun = [...writes];
    syncing = syncing
      .then(() => Promise.all(begun))
      .then(() => fdatasync(fd))
      .then(() => {
        synced = upTo;
        news();
      });
  };

  let filling = alignedBytes(WINDOW_BYTES);
  let filled = 0;
  let received = 0;
  const takeIn = (count: number): boolean => {
    filled += count;
    if (filled < WINDOW_BYTES) return true;
    const full = filling;
    const writing = write(fd, full, 0, WINDOW_BYTES, received * WINDOW_BYTES).then(() => {
      writes.delete(writing);
      free.push(full);
      socket.resume();
    });
    writes.add(writing);
    received += 1;
    filled = 0;
    filling = free.pop() ?? alignedBytes(WINDOW_BYTES);
    if (received % SYNCED_WINDOWS === 0 || received === windows) sync(received);
    return writes.size < COPIED_AT_ONCE;
  };
  const onread = { buffer: () => filling.subarray(filled), callback: takeIn };
  const socket = net.connect({ host: '127.0.0.1', port: from, noDelay: true, onread });
  socket.on('error', () => undefined);

  let next = 0;
  const readBack = async () => {
    const buffer = alignedBytes(WINDOW_BYTES);
    while (next < windows) {
      if (next >= synced) {
        await new Promise<void>((resolve) => {
          const others = news;
          news = () => {
            others();
            resolve();
          };
        });
        continue;
      }
      const window = next;
      next += 1;
      await read(fd, buffer, 0, WINDOW_BYTES, window * WINDOW_BYTES);
      blake3Of([buffer]);
    }
  };
  await Promise.all(Array.from({ length: VERIFIED_AT_ONCE }, readBack));
  socket.destroy();
  tell();
}

function tell(): void {
  const { user, system } = process.cpuUsage();
  console.log((user + system) / 1e6);
}
