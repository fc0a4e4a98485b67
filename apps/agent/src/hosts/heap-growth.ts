/**
 * How far V8 lets the heap of a host process grow between two full collections.
 *
 * The payloads of requests lie in buffers, which count as growth of the heap until they are freed. V8 frees the short-lived ones when
 * they are 32 MiB, by a collection of the young generation that takes less than a millisecond. But it lets a small heap grow by less
 * than that: an engine with 6 MB of live objects collected its whole heap for every fifteen writes of 1 MiB, which was more
 * than half of their processor time.
 */
import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { MIB } from '@holdfast/core/model/bytes.js';

/** Room for short-lived payloads, and for as many that requests in flight hold. A large heap grows by its own size instead. */
const ROOM_BYTES = 64 * MIB;

/** @returns by how many percent of its live size the heap may grow */
export function growthPercent(heapBytes: number): number {
  return Math.max(100, Math.ceil((100 * ROOM_BYTES) / heapBytes));
}

/**
 * Sets the growth now and after each full collection. Only then is the heap in use alive: at other times most of it may be garbage,
 * and a share of that leaves too little room once the garbage is gone.
 */
export function leaveRoomForPayloads(): void {
  const set = () =>
    setFlagsFromString(`--heap-growing-percent=${growthPercent(getHeapStatistics().used_heap_size)}`);
  set();
  const collections = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFull)) set();
  });
  collections.observe({ entryTypes: ['gc'] });
}

function isFull(entry: PerformanceEntry): boolean {
  // The cast: Node's types leave out what only entries of the collector have.
  const { detail } = entry as PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
