/** Requests cut out of a byte stream. */
import { expect, test } from '@jest/globals';
import { ByteQueue } from './byte-queue.js';
import { Command, PAYLOAD_BYTES_MAX, REQUEST_BYTES, REQUEST_MAGIC } from './constants.js';
import { ProtocolError } from './errors.js';
import { RequestReader } from './requests.js';

function header(type: number, lengthBytes: number): Buffer {
  const frame = Buffer.alloc(REQUEST_BYTES);
  frame.writeUInt32BE(REQUEST_MAGIC, 0);
  frame.writeUInt16BE(type, 6);
  frame.writeUInt32BE(lengthBytes, 24);
  return frame;
}

function readerOf(...chunks: Buffer[]): RequestReader {
  const queue = new ByteQueue();
  for (const chunk of chunks) queue.push(chunk);
  return new RequestReader(queue);
}

test('the largest write is waited for, and one byte more ends the stream before anything of it is kept', () => {
  expect(readerOf(header(Command.Write, PAYLOAD_BYTES_MAX)).next()).toBeUndefined();
  expect(() => readerOf(header(Command.Write, PAYLOAD_BYTES_MAX + 1)).next()).toThrow(ProtocolError);
});

test('a write is handed out when all of its payload has arrived', () => {
  const queue = new ByteQueue();
  const reader = new RequestReader(queue);
  queue.push(header(Command.Write, 8));
  queue.push(Buffer.alloc(7, 1));
  expect(reader.next()).toBeUndefined();
  queue.push(Buffer.alloc(1, 2));
  expect(Buffer.concat([...(reader.next()?.payload ?? [])])).toEqual(Buffer.from([1, 1, 1, 1, 1, 1, 1, 2]));
});

test('a large read has no payload to wait for', () => {
  expect(readerOf(header(Command.Read, 0xffffffff)).next()).toMatchObject({ type: Command.Read });
});
