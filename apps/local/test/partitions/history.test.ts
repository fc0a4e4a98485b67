import { describe, expect, test } from '@jest/globals';
import { checkHistory, type HistoryEvent } from './history.js';

const written = (value: number, block = 1): HistoryEvent[] => [
  { kind: 'write-begun', block, value },
  { kind: 'write-done', block, value },
];
const unknown = (value: number, block = 1): HistoryEvent[] => [
  { kind: 'write-begun', block, value },
  { kind: 'write-unknown', block, value },
];
const read = (value: number, block = 1): HistoryEvent => ({ kind: 'read', block, value });
const flushed = (id = 1): HistoryEvent[] => [
  { kind: 'flush-begun', id },
  { kind: 'flush-done', id },
];
const attached: HistoryEvent = { kind: 'attached' };

describe('checkHistory', () => {
  test.each<{ name: string; events: HistoryEvent[] }>([
    { name: 'a read of what was written', events: [...written(1), read(1)] },
    { name: 'a block that was never written', events: [read(0), attached, read(0)] },
    { name: 'a write without an answer, done', events: [...unknown(1), read(1)] },
    { name: 'a write without an answer, not done', events: [...unknown(1), read(0)] },
    { name: 'a write without an answer that comes late', events: [...unknown(1), read(0), read(1)] },
    { name: 'one that comes after a later write', events: [...unknown(1), ...written(2), read(2), read(1)] },
    { name: 'an unflushed write that is lost with its engine', events: [...written(1), attached, read(0)] },
    {
      name: 'an unflushed write that is kept',
      events: [...written(1), attached, read(1), attached, read(0)],
    },
    { name: 'a flushed write', events: [...written(1), ...flushed(), attached, read(1)] },
    {
      name: 'a write behind the flush, lost or kept',
      events: [...written(1), ...flushed(), ...written(2), attached, read(1)],
    },
    {
      name: 'a write that ended while the flush was under way, lost',
      events: [
        { kind: 'flush-begun', id: 1 },
        ...written(1),
        { kind: 'flush-done', id: 1 },
        attached,
        read(0),
      ],
    },
    {
      name: 'a flush without an answer promises nothing',
      events: [...written(1), { kind: 'flush-begun', id: 1 }, attached, read(0)],
    },
  ])('$name fits', ({ events }) => {
    expect(checkHistory(events)).toEqual([]);
  });

  test.each<{ name: string; events: HistoryEvent[] }>([
    { name: 'a lost acknowledged write', events: [...written(1), read(0)] },
    { name: 'an old value', events: [...written(1), ...written(2), read(1)] },
    { name: 'a lost flushed write', events: [...written(1), ...flushed(), attached, read(0)] },
    {
      name: 'a flushed write lost at a later loss of the engine',
      events: [...written(1), ...flushed(), attached, read(1), attached, read(0)],
    },
    {
      name: 'something older than what was flushed',
      events: [...written(1), ...written(2), ...flushed(), ...written(3), attached, read(1)],
    },
    { name: 'what was lost comes back', events: [...written(1), attached, read(0), read(1)] },
    {
      name: 'what was lost comes back with the next engine',
      events: [...written(1), ...written(2), attached, read(1), attached, read(2)],
    },
    { name: 'an old engine writes late', events: [...unknown(1), attached, read(0), read(1)] },
    { name: 'two values at once', events: [...unknown(1), attached, read(1), read(0)] },
    { name: "another block's value", events: [...written(1, 1), read(1, 2)] },
    { name: 'a value that was never written', events: [...written(1), read(7)] },
  ])('$name is found', ({ events }) => {
    expect(checkHistory(events)).toHaveLength(1);
  });
});
