import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { CorkedWriter } from './corked-writer.js';

/** Socket that reports what each system call sends. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  writableEnded = false;
  private gathered: (() => void)[] = [];

  cork(): void {}

  write(_piece: Buffer, written?: () => void): void {
    this.gathered.push(written ?? (() => undefined));
  }

  uncork(): void {
    const sent = this.gathered;
    this.gathered = [];
    for (const written of sent) written();
    this.emit('call', sent.length);
  }
}

describe('CorkedWriter', () => {
  // Each case sends a number of messages in one turn while a number of further ones is expected.
  test.each([
    { expected: 0, messages: 1, name: 'alone' },
    { expected: 4, messages: 1, name: 'at a depth of four' },
    { expected: 32, messages: 8, name: 'as a quarter of what is under way' },
  ])('a message goes at the end of its turn $name', async ({ expected, messages }) => {
    const socket = new FakeSocket();
    const writer = writerOn(socket, () => expected);
    for (let sent = 0; sent < messages; sent += 1) writer.send([Buffer.alloc(16)]);
    let calls: unknown[] | undefined;
    socket.on('call', (...args) => {
      calls = args;
    });
    await turn();
    expect(calls).toEqual([messages]);
  });

  test('a few wait for the many that are expected, and go with them', async () => {
    const socket = new FakeSocket();
    const writer = writerOn(socket, () => 32);
    writer.send([Buffer.alloc(16)]);
    const called = once(socket, 'call');
    // In the same turn as the earliest possible deadline.
    for (let sent = 0; sent < 7; sent += 1) writer.send([Buffer.alloc(16)]);
    expect(await called).toEqual([8]);
  });

  test('nothing waits for ever', async () => {
    const socket = new FakeSocket();
    writerOn(socket, () => 1000).send([Buffer.alloc(16)]);
    expect(await once(socket, 'call')).toEqual([1]);
  });

  test('many bytes go at once', async () => {
    const socket = new FakeSocket();
    let calls = 0;
    socket.on('call', () => {
      calls += 1;
    });
    writerOn(socket, () => 1000).send([Buffer.alloc(16), Buffer.alloc(64 * 1024)]);
    await turn();
    expect(calls).toBe(1);
  });

  test('says that a message is sent when its last piece is, and at once on a dead connection', async () => {
    const socket = new FakeSocket();
    const writer = writerOn(socket, () => 0);
    let sent = 0;
    writer.send([Buffer.alloc(1), Buffer.alloc(1)], () => {
      sent += 1;
    });
    expect(sent).toBe(0);
    await turn();
    expect(sent).toBe(1);
    socket.destroyed = true;
    writer.send([Buffer.alloc(1)], () => {
      sent += 1;
    });
    expect(sent).toBe(2);
  });
});

function writerOn(socket: FakeSocket, expected: () => number): CorkedWriter {
  // The cast: the fake has all that a writer uses.
  return new CorkedWriter(socket as unknown as Socket, expected);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
