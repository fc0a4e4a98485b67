/**
 * Model of a volume's content, as a plain list of blocks in memory.
 *
 * A write that no flush has covered may survive a crash or not, each block independently. Everything else is certain: a flushed block
 * reads as flushed, or as something written to it since.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';

const ZEROS = Buffer.alloc(BLOCK_BYTES);

/** One content that a block has had; a later one has a higher number. */
type Version = { readonly number: number; readonly bytes: Buffer; readonly life: number };

type Block = {
  /** Contents that a crash may leave, oldest first. */
  possible: Version[];
  /** Content that a read shows now; `undefined` when any of the possible ones may. */
  now: Version | undefined;
};

/** The certain contents at one moment, by block: those that a flush beginning then covers. */
export type Moment = ReadonlyMap<number, Version>;

export class BlockModel {
  private readonly blocks: Block[] = [];
  private versions = 0;
  /** By the engine: content left by an earlier one may differ between copies until they have been made equal. */
  private life = 0;

  constructor(sizeBytes: number) {
    this.grow(sizeBytes);
  }

  get sizeBytes(): number {
    return this.blocks.length * BLOCK_BYTES;
  }

  /** Added blocks are zeros, for good. */
  grow(sizeBytes: number): void {
    while (this.sizeBytes < sizeBytes) {
      const zeros = this.version(ZEROS);
      this.blocks.push({ possible: [zeros], now: zeros });
    }
  }

  isCertain(offset: number, lengthBytes: number): boolean {
    return this.range(offset, lengthBytes).every(({ now }) => now !== undefined);
  }

  get uncertainBlocks(): number[] {
    return this.blocks.flatMap(({ now }, index) => (now === undefined ? [index] : []));
  }

  /** All of it, where all is certain. */
  contents(): Buffer {
    return Buffer.concat(this.blocks.map(({ now }) => this.certain(now)));
  }

  /** Possible contents of each block after a crash. */
  possibleContents(): Buffer[][] {
    return this.blocks.map(({ possible }) => possible.map(({ bytes }) => bytes));
  }

  /** From now on a crash may leave these bytes; a read shows the previous content until `wrote`. */
  writing(offset: number, bytes: Buffer): void {
    this.eachBlock(offset, bytes, (block, content) => block.possible.push(this.version(content)));
  }

  /** The write was acknowledged. */
  wrote(offset: number, bytes: Buffer): void {
    for (const block of this.range(offset, bytes.length)) block.now = block.possible.at(-1);
  }

  /** Contents that a flush beginning now covers once it is acknowledged. */
  moment(copiesAreEqual: boolean): Moment {
    const covered = new Map<number, Version>();
    for (const [index, { now, possible }] of this.blocks.entries()) {
      if (now === undefined || possible.length === 1) continue;
      if (copiesAreEqual || now.life === this.life) covered.set(index, now);
    }
    return covered;
  }

  /** A flush that began at that moment was acknowledged: nothing older can come back. */
  flushed(moment: Moment): void {
    for (const [index, { number }] of moment) {
      const block = this.blocks[index];
      if (block !== undefined) block.possible = block.possible.filter((version) => version.number >= number);
    }
  }

  /** A write with FUA was acknowledged. */
  wroteForGood(offset: number, bytes: Buffer): void {
    this.wrote(offset, bytes);
    for (const block of this.range(offset, bytes.length)) block.possible = block.possible.slice(-1);
  }

  /** The whole device is this now, and stays it. */
  replace(contents: Buffer): void {
    for (const [index, block] of this.blocks.entries()) {
      const at = index * BLOCK_BYTES;
      const bytes = at < contents.length ? contents.subarray(at, at + BLOCK_BYTES) : ZEROS;
      const version = this.version(bytes);
      block.possible = [version];
      block.now = version;
    }
  }

  /** Whatever was not flushed may be gone. */
  lostUnflushed(): void {
    for (const block of this.blocks) if (block.possible.length > 1) block.now = undefined;
  }

  /** Only writes in flight are uncertain. Everything acknowledged was kept in some copy's memory. */
  lostInFlight(): void {
    for (const block of this.blocks) if (block.possible.at(-1) !== block.now) block.now = undefined;
  }

  newLife(): void {
    this.life += 1;
  }

  /** Lists the blocks with a forbidden content. */
  wrongBlocks(offset: number, held: Buffer): number[] {
    const first = offset / BLOCK_BYTES;
    return this.range(offset, held.length).flatMap(({ now, possible }, index) => {
      const bytes = held.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
      const allowed = now === undefined ? possible : [now];
      return allowed.some((version) => version.bytes.equals(bytes)) ? [] : [first + index];
    });
  }

  /** The copies are equal, and a read showed this: uncertain blocks are certain from now on. */
  adopt(held: Buffer): void {
    for (const [index, block] of this.blocks.entries()) {
      if (block.now !== undefined) continue;
      const version = this.version(held.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES));
      block.possible.push(version);
      block.now = version;
    }
  }

  private eachBlock(offset: number, bytes: Buffer, change: (block: Block, content: Buffer) => void): void {
    const start = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
    for (const [index, block] of this.range(offset, bytes.length).entries()) {
      const at = start + index * BLOCK_BYTES;
      const from = Math.max(offset, at);
      const to = Math.min(offset + bytes.length, at + BLOCK_BYTES);
      const isWhole = to - from === BLOCK_BYTES;
      const content = Buffer.from(isWhole ? ZEROS : this.certain(block.now));
      bytes.copy(content, from - at, from - offset, to - offset);
      change(block, content);
    }
  }

  private range(offset: number, lengthBytes: number): Block[] {
    return this.blocks.slice(
      Math.floor(offset / BLOCK_BYTES),
      Math.ceil((offset + lengthBytes) / BLOCK_BYTES),
    );
  }

  private certain(now: Version | undefined): Buffer {
    if (now === undefined) throw new Error('the model is not certain what this block holds');
    return now.bytes;
  }

  private version(bytes: Buffer): Version {
    this.versions += 1;
    return { number: this.versions, bytes: Buffer.from(bytes), life: this.life };
  }
}
