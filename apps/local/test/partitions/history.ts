/**
 * History of what a client of a block device saw, in order. Values are numbers that are written once each; 0 stands for
 * a block that was never written. There is never more than one operation on a block at a time.
 */
export type HistoryEvent =
  | { kind: 'write-begun'; block: number; value: number }
  | { kind: 'write-done'; block: number; value: number }
  /** The connection ended before an answer: the write may have taken effect, or still do so while that engine runs. */
  | { kind: 'write-unknown'; block: number; value: number }
  | { kind: 'read'; block: number; value: number }
  | { kind: 'flush-begun'; id: number }
  | { kind: 'flush-done'; id: number }
  /** A new engine serves the volume: older ones can change nothing any more. */
  | { kind: 'attached' };

/** State of one block. A value stands for its write's place in the order: a later one is larger. */
type BlockState = {
  /** Values that a read may return now. */
  possible: Set<number>;
  /** Values that may be left after the engine is lost: none older than what was flushed last. */
  durable: Set<number>;
  /** Values of writes without an answer, which may still take effect. */
  ghosts: Set<number>;
  /** True while no operation since the last attachment has made the value certain: the first read then decides it. */
  isOpen: boolean;
};

type Flush = Map<number, ReadonlySet<number>>;

/**
 * Checks a history against the promise: each block is a register in which operations take effect between their
 * beginning and their answer. When the engine is lost, writes since the last flush may be lost with it, the newest
 * first, but nothing that was flushed; and what a read has shown to be lost does not come back.
 *
 * @returns a sentence for each event that breaks the promise
 */
export function checkHistory(events: readonly HistoryEvent[]): string[] {
  const checker = new HistoryChecker();
  return events.flatMap((event, index) => {
    const finding = checker.next(event);
    return finding === undefined ? [] : [`event ${index}: ${finding}`];
  });
}

class HistoryChecker {
  private readonly blocks = new Map<number, BlockState>();
  private readonly flushes = new Map<number, Flush>();

  next(event: HistoryEvent): string | undefined {
    switch (event.kind) {
      case 'write-begun':
        return this.begin(event.block, event.value);
      case 'write-done':
        return this.finish(event.block, event.value);
      case 'write-unknown':
        return this.loseSight(event.block, event.value);
      case 'read':
        return this.read(event.block, event.value);
      case 'flush-begun':
        return this.beginFlush(event.id);
      case 'flush-done':
        return this.finishFlush(event.id);
      case 'attached':
        return this.attach();
    }
  }

  private begin(block: number, value: number): undefined {
    const state = this.stateOf(block);
    state.possible.add(value);
    state.durable.add(value);
    // A flush that is under way may or may not cover this write.
    for (const flush of this.flushes.values()) {
      const before = flush.get(block) ?? new Set([0]);
      flush.set(block, new Set([...before, value]));
    }
  }

  private finish(block: number, value: number): undefined {
    const state = this.stateOf(block);
    state.possible = new Set([value, ...state.ghosts]);
    state.isOpen = false;
  }

  private loseSight(block: number, value: number): undefined {
    this.stateOf(block).ghosts.add(value);
  }

  private read(block: number, value: number): string | undefined {
    const state = this.stateOf(block);
    if (!state.possible.has(value)) {
      const allowed = [...state.possible].sort((a, b) => a - b).join(', ');
      return `block ${block} was read as ${value}, and can only be ${allowed}`;
    }
    state.possible = new Set([value, ...state.ghosts]);
    // The first read after the loss of an engine shows what was lost: that must not come back.
    if (state.isOpen) state.durable = new Set([...state.durable].filter((one) => one <= value));
    if (state.ghosts.size === 0) state.isOpen = false;
  }

  private beginFlush(id: number): undefined {
    const before = [...this.blocks].map(([block, { possible }]) => [block, new Set(possible)] as const);
    this.flushes.set(id, new Map(before));
  }

  private finishFlush(id: number): undefined {
    const flush = this.flushes.get(id);
    this.flushes.delete(id);
    for (const [block, kept] of flush ?? []) {
      const state = this.stateOf(block);
      state.durable = new Set([...kept].filter((value) => state.durable.has(value)));
    }
  }

  private attach(): undefined {
    this.flushes.clear();
    for (const state of this.blocks.values()) {
      state.possible = new Set(state.durable);
      state.ghosts.clear();
      state.isOpen = true;
    }
  }

  private stateOf(block: number): BlockState {
    const known = this.blocks.get(block);
    if (known !== undefined) return known;
    const fresh = { possible: new Set([0]), durable: new Set([0]), ghosts: new Set<number>(), isOpen: false };
    this.blocks.set(block, fresh);
    return fresh;
  }
}
