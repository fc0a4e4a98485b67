import { KIB } from '@holdfast/core/model/bytes.js';
import { describe, expect, test } from '@jest/globals';
import { adjacentCount, countInWindow, joined } from './adjacent-requests.js';
import { Command, CommandFlag } from './constants.js';
import type { NbdRequest } from './requests.js';

function request(type: number, offset: number, lengthBytes = 4096, flags = 0): NbdRequest {
  const payload = type === Command.Write ? [Buffer.alloc(lengthBytes, offset / 4096)] : [];
  return { type, offset, lengthBytes, flags, cookie: [0, offset], payload };
}
const write = (offset: number, lengthBytes?: number, flags?: number) =>
  request(Command.Write, offset, lengthBytes, flags);
const read = (offset: number) => request(Command.Read, offset);

describe('requests that follow each other on the device', () => {
  test.each([
    { name: 'three writes of one stretch', requests: [write(0), write(4096), write(8192)], count: 3 },
    { name: 'three reads of one stretch', requests: [read(0), read(4096), read(8192)], count: 3 },
    { name: 'a gap', requests: [write(0), write(8192)], count: 1 },
    { name: 'the other direction', requests: [write(4096), write(0)], count: 1 },
    { name: 'the same place', requests: [write(0), write(0)], count: 1 },
    { name: 'a read after a write', requests: [write(0), read(4096)], count: 1 },
    { name: 'one that is to be durable', requests: [write(0), write(4096, 4096, CommandFlag.Fua)], count: 1 },
    {
      name: 'one that is to be durable first',
      requests: [write(0, 4096, CommandFlag.Fua), write(4096)],
      count: 1,
    },
    { name: 'an empty one', requests: [write(0), write(4096, 0)], count: 1 },
    {
      name: 'what is no transfer',
      requests: [request(Command.Flush, 0), request(Command.Flush, 4096)],
      count: 1,
    },
    { name: 'more than 128 KiB', requests: [write(0, 96 * KIB), write(96 * KIB, 36 * KIB)], count: 1 },
    { name: 'no more than 128 KiB', requests: [write(0, 96 * KIB), write(96 * KIB, 32 * KIB)], count: 2 },
  ])('$name: $count', ({ requests, count }) => {
    expect(adjacentCount(requests, 0)).toBe(count);
  });

  test('are counted from where they begin', () => {
    const requests = [write(0), write(40_960), write(45_056), write(49_152), read(0)];
    expect(requests.map((_, first) => adjacentCount(requests, first))).toEqual([1, 3, 2, 1, 1]);
  });

  test('become one, with their bytes in order', () => {
    const whole = joined([write(4096), write(8192), write(12_288)]);
    expect([whole.offset, whole.lengthBytes]).toEqual([4096, 12_288]);
    expect(Buffer.concat(whole.payload)).toEqual(
      Buffer.concat([1, 2, 3].map((fill) => Buffer.alloc(4096, fill))),
    );
  });
});

describe('reads of one window', () => {
  const MIB = 1024 * KIB;
  test.each([
    { name: 'two with a gap', requests: [read(0), read(8192)], count: 2 },
    { name: 'two that touch', requests: [read(0), read(4096)], count: 2 },
    { name: 'the last block of the window', requests: [read(0), read(4 * MIB - 4096)], count: 2 },
    { name: 'one of the next window', requests: [read(4096), read(4 * MIB)], count: 1 },
    {
      name: 'one that reaches into the next window',
      requests: [read(0), request(Command.Read, 4 * MIB - 4096, 8192)],
      count: 1,
    },
    { name: 'the other direction', requests: [read(8192), read(0)], count: 1 },
    { name: 'the same place twice', requests: [read(0), read(0)], count: 1 },
    { name: 'parts of a block', requests: [read(0), request(Command.Read, 8192, 512)], count: 1 },
    { name: 'not at a block', requests: [read(0), read(8193)], count: 1 },
    { name: 'a write between', requests: [read(0), write(8192), read(16_384)], count: 1 },
    { name: 'two writes with a gap', requests: [write(0), write(8192)], count: 1 },
    { name: 'one with a flag', requests: [read(0), request(Command.Read, 8192, 4096, 4)], count: 1 },
  ])('$name: $count', ({ requests, count }) => {
    expect(countInWindow(requests, 0)).toBe(count);
  });

  test('are counted from where they begin, and 256 at a time', () => {
    const requests = Array.from({ length: 500 }, (_, index) => read(index * 8192));
    expect([0, 300, 499].map((first) => countInWindow(requests, first))).toEqual([256, 200, 1]);
    expect(countInWindow([write(0), read(0), read(8192)], 1)).toBe(2);
  });
});
