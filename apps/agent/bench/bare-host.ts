// A process of the bare loop: it makes the system calls that a replica host makes for a write, and does nothing else. Where it
// is told the ports of others, it stands for the host that runs the engine too: it takes NBD from the bench's client, and sends
// each request on to them. Arguments: its file, whose length is the device's, and those ports. Prints its own port.
import fs from 'node:fs';
import net from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';
import { Command, NbdErrno, REQUEST_BYTES, SIMPLE_REPLY_BYTES } from '@holdfast/data-engine/nbd/constants.js';
import { readUint64 } from '@holdfast/data-engine/nbd/handshake-frames.js';
import { simpleReply } from '@holdfast/data-engine/nbd/requests.js';
import { NbdServer } from '@holdfast/data-engine/nbd/server.js';
import { handshakeReply } from '@holdfast/data-engine/nbd/server-handshake.js';

/** A request's header as it came, and its payload in the pieces in which it came. */
type Request = { readonly header: Buffer; readonly payload: Buffer[] };

/** The file is synced when half as much waits as `write-back-budget.ts` lets wait on a fast disk, counted as there. */
const WAITING_MAX = 2048;
const BYTES_OF_ONE = 32 * KIB;
/** As much as a host receives at once from a copy. */
const RECEIVED_BYTES_MAX = 256 * KIB;
const NOTHING = Buffer.alloc(0);

const [file = '', ...ports] = process.argv.slice(2);
const fd = fs.openSync(file, 'r+');
/** What each request in flight waits for: its own write, and the answers of the copies. */
const inFlight = new Map<number, { missing: number; answer: () => void }>();
const copies = ports.map((port) => connectTo(Number(port)));
let waiting = 0;
let isSyncing = false;

function connectTo(port: number): net.Socket {
  const buffer = Buffer.alloc(RECEIVED_BYTES_MAX);
  const callback = (count: number) => {
    for (let at = 0; at < count; at += SIMPLE_REPLY_BYTES) ended(cookieOf(buffer.subarray(at)));
    return true;
  };
  return net.connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer, callback } });
}

function serve(socket: net.Socket): void {
  let rest: Buffer = NOTHING;
  let begun: Request | undefined;
  let missingBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    let left = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    rest = NOTHING;
    while (left.length > 0) {
      if (begun === undefined) {
        if (left.length < REQUEST_BYTES) {
          rest = left;
          return;
        }
        begun = { header: left.subarray(0, REQUEST_BYTES), payload: [] };
        left = left.subarray(REQUEST_BYTES);
        missingBytes = typeOf(begun) === Command.Write ? begun.header.readUInt32BE(24) : 0;
      }
      const piece = left.subarray(0, missingBytes);
      if (piece.length > 0) begun.payload.push(piece);
      left = left.subarray(piece.length);
      missingBytes -= piece.length;
      if (missingBytes > 0) return;
      begin(begun, socket);
      begun = undefined;
    }
  });
  socket.on('error', () => socket.destroy());
  socket.resume();
}

function begin(request: Request, socket: net.Socket): void {
  const { header, payload } = request;
  const type = typeOf(request);
  if (type === Command.Disconnect) {
    socket.end();
    return;
  }
  const cookie = cookieOf(header);
  const isAlone = inFlight.size === 0;
  const reply = simpleReply([header.readUInt32BE(8), cookie], NbdErrno.None);
  const answer = () => send(socket, [reply], inFlight.size === 0);
  inFlight.set(cookie, { missing: 1 + copies.length, answer });
  for (const copy of copies) send(copy, [header, ...payload], isAlone);
  const done = () => ended(cookie);
  if (type === Command.Flush) sync(done);
  else write(payload, readUint64(header, 16), done);
}

/** The host that runs the engine leaves it to a thread; the others copy into the page cache at once. */
function write(payload: Buffer[], position: number, done: () => void): void {
  const [first = NOTHING] = payload;
  const isOne = payload.length === 1;
  if (copies.length > 0) {
    const written = (error: Error | null) => {
      if (error !== null) throw error;
      done();
    };
    if (isOne) fs.write(fd, first, 0, first.length, position, written);
    else fs.writev(fd, payload, position, written);
  } else {
    if (isOne) fs.writeSync(fd, first, 0, first.length, position);
    else fs.writevSync(fd, payload, position);
    done();
  }
  waiting += 1;
  for (const piece of payload) waiting += piece.length / BYTES_OF_ONE;
  if (isSyncing || waiting < WAITING_MAX) return;
  waiting = 0;
  isSyncing = true;
  sync(() => {
    isSyncing = false;
  });
}

function sync(done: () => void): void {
  fs.fdatasync(fd, (error) => {
    if (error !== null) throw error;
    done();
  });
}

function ended(cookie: number): void {
  const request = inFlight.get(cookie);
  if (request === undefined) throw new Error(`an answer to no request: ${cookie}`);
  request.missing -= 1;
  if (request.missing > 0) return;
  inFlight.delete(cookie);
  request.answer();
}

/** One call for all that a turn of the event loop sends; what belongs to the only request leaves at once. */
function send(socket: net.Socket, pieces: readonly Buffer[], isAlone: boolean): void {
  socket.cork();
  for (const piece of pieces) socket.write(piece);
  if (isAlone) socket.uncork();
  else setImmediate(() => socket.uncork());
}

function typeOf({ header }: Request): number {
  return header.readUInt16BE(6);
}

/** The half of it that differs. */
function cookieOf(frame: Buffer): number {
  return frame.readUInt32BE(12);
}

async function listen(): Promise<net.AddressInfo> {
  if (copies.length === 0) {
    const server = net.createServer({ noDelay: true }, serve);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // The cast: a server that listens on TCP has an address of this kind.
    return server.address() as net.AddressInfo;
  }
  const info = { sizeBytes: fs.fstatSync(fd).size, readOnly: false, blockSizeMinBytes: 1 };
  const server = new NbdServer({
    directory: { describe: () => info },
    accept: (socket, negotiated) => {
      // Its first request comes after this answer.
      socket.write(handshakeReply(negotiated, info));
      serve(socket);
    },
  });
  return server.listen('127.0.0.1', 0);
}

console.log((await listen()).port);
