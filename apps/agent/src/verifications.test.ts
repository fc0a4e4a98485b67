import type { ChecksumReply } from '@holdfast/core/model/agent-protocol.js';
import { describe, expect, test } from '@jest/globals';
import { Verifications } from './verifications.js';

const REPLY = { checksum: 'abc', writtenBytes: 1 };

/** A checksum that ends when the test says so. */
function slow() {
  const begun: { resolve: (reply: ChecksumReply) => void; reject: (error: Error) => void }[] = [];
  const subject = new Verifications(() => new Promise((resolve, reject) => begun.push({ resolve, reject })));
  return { begun, subject };
}

describe('Verifications', () => {
  test('a call about a long one is answered before its end, and the copy is read only once', async () => {
    const { begun, subject } = slow();
    expect(await subject.ask('a', '1')).toBeUndefined();
    const second = subject.ask('a', '1');
    begun[0]?.resolve(REPLY);
    expect(await second).toEqual(REPLY);
    expect(await subject.ask('a', '1')).toEqual(REPLY);
    expect(begun).toHaveLength(1);
  });

  test('another one of the same copy begins anew', async () => {
    const { begun, subject } = slow();
    const first = subject.ask('a', '1');
    begun[0]?.resolve(REPLY);
    await first;
    expect(await subject.ask('a', '2')).toBeUndefined();
    expect(begun).toHaveLength(2);
  });

  test('one that failed says so, and may be tried again', async () => {
    const { begun, subject } = slow();
    const first = subject.ask('a', '1');
    begun[0]?.reject(new Error('rot'));
    await expect(first).rejects.toThrow('rot');
    const again = subject.ask('a', '1');
    begun[1]?.resolve(REPLY);
    expect(await again).toEqual(REPLY);
  });

  test('those with a limited rate are read one after another, and one that failed holds up none', async () => {
    const { begun, subject } = slow();
    expect(await subject.ask('a', '1', 100)).toBeUndefined();
    expect(await subject.ask('b', '1', 100)).toBeUndefined();
    expect(begun).toHaveLength(1);
    expect(await subject.ask('c', '1')).toBeUndefined();
    expect(begun).toHaveLength(2);
    begun[0]?.reject(new Error('rot'));
    const next = subject.ask('b', '1', 100);
    await expect(subject.ask('a', '1', 100)).rejects.toThrow('rot');
    expect(begun).toHaveLength(3);
    begun[2]?.resolve(REPLY);
    expect(await next).toEqual(REPLY);
  });

  test('one that waits for its turn is not read when another was asked for meanwhile', async () => {
    const { begun, subject } = slow();
    expect(await subject.ask('a', '1', 100)).toBeUndefined();
    const waiting = subject.ask('b', '1', 100);
    expect(await subject.ask('b', '2')).toBeUndefined();
    await waiting;
    begun[0]?.resolve(REPLY);
    await subject.ask('a', '1', 100);
    expect(begun).toHaveLength(2);
  });
});
