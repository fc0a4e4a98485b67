/**
 * Oracle of the simulation: what reads of a volume may show, block by block, given everything written, answered and
 * flushed so far.
 *
 * The writes of a block are numbered in the order of their requests, which is the order in which an engine applies
 * them. A read must show a write that is no older than the newest one that was answered before the read began, or
 * that an earlier read has shown. A crash that may lose unflushed writes takes this bound back to the newest flushed
 * write, and no further.
 */
export type Violation = { readonly block: number; readonly what: string };

type Block = {
  /** Number of requested writes; 0 is the state before all of them. */
  written: number;
  /** The oldest write that a read may show: now, and after a crash. */
  floor: number;
  durableFloor: number;
  /** The writes that have left zeros, in order: a read can't tell them apart. */
  zeroed: number[];
};

/** Snapshot of the floors: what a flush that begins now covers once it is answered. */
export type Floors = readonly number[];

export class BlockHistory {
  private readonly blocks: Block[];
  /** Number of crashes that may have lost something: an operation that began before one proves nothing after it. */
  private losses = 0;

  constructor(count: number) {
    this.blocks = Array.from({ length: count }, () => ({
      written: 0,
      floor: 0,
      durableFloor: 0,
      zeroed: [0],
    }));
  }

  get loss(): number {
    return this.losses;
  }

  /** @returns the number of the write */
  writing(block: number): number {
    const found = this.block(block);
    found.written += 1;
    return found.written;
  }

  /** @returns the number of the write, after which the block holds zeros */
  zeroing(block: number): number {
    const write = this.writing(block);
    this.block(block).zeroed.push(write);
    return write;
  }

  wrote(block: number, write: number, isForGood: boolean): void {
    const found = this.block(block);
    found.floor = Math.max(found.floor, write);
    if (isForGood) found.durableFloor = Math.max(found.durableFloor, write);
  }

  floors(): Floors {
    return this.blocks.map(({ floor }) => floor);
  }

  flushed(covered: Floors): void {
    for (const [index, floor] of covered.entries()) {
      const found = this.block(index);
      found.durableFloor = Math.max(found.durableFloor, floor);
      found.floor = Math.max(found.floor, floor);
    }
  }

  /** Checks the write that a read has shown, 0 for zeros, against the floors at its start. */
  read(block: number, shown: number, atBegin: Floors): Violation | undefined {
    const found = this.block(block);
    const least = atBegin[block] ?? 0;
    const write = shown === 0 ? (found.zeroed.find((zeroed) => zeroed >= least) ?? 0) : shown;
    if (write > found.written) return { block, what: `shows write ${write}, which was never asked for` };
    if (write < least) return { block, what: `shows write ${write}, though write ${least} was there before` };
    found.floor = Math.max(found.floor, write);
    return undefined;
  }

  /** Records a crash that may have lost unflushed writes. */
  lost(): void {
    this.losses += 1;
    for (const block of this.blocks) block.floor = block.durableFloor;
  }

  private block(index: number): Block {
    const found = this.blocks[index];
    if (found === undefined) throw new Error(`there is no block ${index}`);
    return found;
  }
}
