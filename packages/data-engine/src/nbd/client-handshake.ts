/** Client side of the NBD handshake, on top of a reader that returns exactly n bytes. */
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { ByteQueue } from './byte-queue.js';
import { securedByTls } from './client-tls.js';
import {
  ALLOCATION_CONTEXT,
  HandshakeFlag,
  InfoType,
  NBD_MAGIC,
  NbdErrno,
  OPTION_BYTES_MAX,
  OPTION_MAGIC,
  OPTION_REPLY_MAGIC,
  Option,
  OptionReply,
} from './constants.js';
import { NbdError, ProtocolError } from './errors.js';
import { clientFlags, GREETING_BYTES, readUint64 } from './handshake-frames.js';
import { asConnection, type Connection } from './incoming.js';

export type ServerTerms = {
  sizeBytes: number;
  flags: number;
  structuredReplies: boolean;
  blockStatus: boolean;
};

/** Reads exact amounts from a socket during the handshake, then returns the rest. */
class ExactReader {
  private readonly queue = new ByteQueue();
  private waiting:
    | { count: number; resolve: (bytes: Buffer) => void; reject: (error: Error) => void }
    | undefined;
  private readonly onClose = () =>
    this.waiting?.reject(new ProtocolError('the server closed the connection during the handshake'));

  private readonly socket: Socket;

  constructor({ socket, incoming }: Connection) {
    this.socket = socket;
    incoming.receive = (chunk) => {
      this.queue.push(chunk);
      this.serve();
    };
    socket.on('close', this.onClose);
  }

  read(count: number): Promise<Buffer> {
    if (this.socket.destroyed) return Promise.reject(new ProtocolError('the connection is closed'));
    return new Promise((resolve, reject) => {
      this.waiting = { count, resolve, reject };
      this.serve();
    });
  }

  /** Ends reading; returns bytes that came after the handshake. */
  release(): Buffer {
    this.socket.pause();
    this.socket.off('close', this.onClose);
    return this.queue.takeAll();
  }

  private serve(): void {
    const { waiting } = this;
    if (waiting === undefined || this.queue.length < waiting.count) return;
    this.waiting = undefined;
    waiting.resolve(this.queue.take(waiting.count));
  }
}

export type OpenedExport = {
  terms: ServerTerms;
  /** Bytes that came after the handshake. */
  rest: Buffer;
  /** The connection to continue on, plain or TLS. It is paused. */
  connection: Connection;
};

/** @throws ProtocolError, NbdError for a refused export, or a TLS error */
export async function clientHandshake(
  connection: Connection,
  tls: ConnectionOptions | undefined,
  exportName: string,
): Promise<OpenedExport> {
  const reader = new ExactReader(connection);
  await readGreeting(reader);
  connection.socket.write(clientFlags(true));
  if (tls === undefined) return chooseExport(connection, reader, exportName);
  const secure = asConnection(await startTls(connection.socket, reader, tls));
  return chooseExport(secure, new ExactReader(secure), exportName);
}

async function readGreeting(reader: ExactReader): Promise<void> {
  const greeting = await reader.read(GREETING_BYTES);
  if (
    greeting.readUInt32BE(0) !== NBD_MAGIC[0] ||
    greeting.readUInt32BE(4) !== NBD_MAGIC[1] ||
    greeting.readUInt32BE(8) !== OPTION_MAGIC[0] ||
    (greeting.readUInt16BE(16) & HandshakeFlag.FixedNewstyle) === 0
  ) {
    throw new ProtocolError('the server does not speak fixed newstyle NBD');
  }
}

async function startTls(socket: Socket, reader: ExactReader, tls: ConnectionOptions): Promise<Socket> {
  socket.write(option(Option.StartTls, Buffer.alloc(0)));
  const { error } = await readReplies(reader, Option.StartTls);
  if (error !== undefined)
    throw new ProtocolError(`the server does no TLS, which this node requires: ${error}`);
  // Plaintext in front of the tunnel may have been injected by an attacker.
  if (reader.release().length > 0) throw new ProtocolError('the server spoke before the TLS handshake');
  return securedByTls(socket, tls);
}

async function chooseExport(
  connection: Connection,
  reader: ExactReader,
  exportName: string,
): Promise<OpenedExport> {
  const { socket } = connection;
  socket.write(option(Option.StructuredReply, Buffer.alloc(0)));
  const structuredReplies = (await readReplies(reader, Option.StructuredReply)).error === undefined;
  const blockStatus = structuredReplies && (await selectAllocation(socket, reader, exportName));

  socket.write(option(Option.Go, Buffer.concat([lengthPrefixed(exportName), Buffer.alloc(2)])));
  const { infos, error } = await readReplies(reader, Option.Go);
  if (error !== undefined) throw new NbdError(NbdErrno.Invalid, error);
  const info = infos.find((data) => data.length >= 12 && data.readUInt16BE(0) === InfoType.Export);
  if (info === undefined) throw new ProtocolError('the server did not describe the export');
  const terms = {
    sizeBytes: readUint64(info, 2),
    flags: info.readUInt16BE(10),
    structuredReplies,
    blockStatus,
  };
  return { terms, rest: reader.release(), connection };
}

async function selectAllocation(socket: Socket, reader: ExactReader, exportName: string): Promise<boolean> {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(1, 0);
  const query = lengthPrefixed(ALLOCATION_CONTEXT);
  socket.write(option(Option.SetMetaContext, Buffer.concat([lengthPrefixed(exportName), count, query])));
  const { contexts, error } = await readReplies(reader, Option.SetMetaContext);
  return error === undefined && contexts > 0;
}

/** Replies to one option: a few infos, then an acknowledgement or an error. */
async function readReplies(
  reader: ExactReader,
  expected: number,
): Promise<{ infos: Buffer[]; contexts: number; error: string | undefined }> {
  const infos: Buffer[] = [];
  let contexts = 0;
  // Bounded: there are four kinds of info and one context, so a server that sends more is broken.
  for (let i = 0; i < 32; i += 1) {
    const header = await reader.read(20);
    if (header.readUInt32BE(0) !== OPTION_REPLY_MAGIC[0] || header.readUInt32BE(8) !== expected) {
      throw new ProtocolError('an option reply has the wrong magic or option');
    }
    const type = header.readUInt32BE(12);
    const lengthBytes = header.readUInt32BE(16);
    if (lengthBytes > OPTION_BYTES_MAX) throw new ProtocolError(`an option reply of ${lengthBytes} bytes`);
    const data = lengthBytes > 0 ? await reader.read(lengthBytes) : Buffer.alloc(0);
    if (type === OptionReply.Ack) return { infos, contexts, error: undefined };
    if (type >= 0x80000000) return { infos, contexts, error: data.toString('utf8') || `error ${type}` };
    if (type === OptionReply.Info) infos.push(data);
    if (type === OptionReply.MetaContext) contexts += 1;
  }
  throw new ProtocolError('too many replies to one option');
}

function option(code: number, data: Buffer): Buffer {
  const frame = Buffer.alloc(16 + data.length);
  frame.writeUInt32BE(OPTION_MAGIC[0], 0);
  frame.writeUInt32BE(OPTION_MAGIC[1], 4);
  frame.writeUInt32BE(code, 8);
  frame.writeUInt32BE(data.length, 12);
  data.copy(frame, 16);
  return frame;
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length, 0);
  return Buffer.concat([prefix, bytes]);
}
