/** Which blocks of a volume a backup reads: all of them, or those that were changed since the backup that it builds on. */

/** A range of the volume that may have been changed. */
export type ChangedRange = { readonly offset: number; readonly lengthBytes: number };

export type Base = {
  /** Size of the volume at the backup that this one builds on. */
  readonly sizeBytes: number;
  readonly changed: readonly ChangedRange[];
};

/** Numbers of the blocks to read, ascending. What the volume has grown by is read, and so is the block that its old end lay in. */
export function blocksToRead(sizeBytes: number, blockBytes: number, base?: Base): number[] {
  const blocks = Math.ceil(sizeBytes / blockBytes);
  if (base === undefined) return Array.from({ length: blocks }, (_, block) => block);
  const wanted = new Set<number>();
  const add = (offset: number, end: number) => {
    for (
      let block = Math.floor(offset / blockBytes);
      block * blockBytes < Math.min(end, sizeBytes);
      block += 1
    )
      wanted.add(block);
  };
  for (const { offset, lengthBytes } of base.changed) if (lengthBytes > 0) add(offset, offset + lengthBytes);
  if (sizeBytes > base.sizeBytes) add(base.sizeBytes, sizeBytes);
  // A volume that was made shorter ends within a block, whose rest reads as zeros now.
  if (sizeBytes < base.sizeBytes && sizeBytes % blockBytes !== 0) add(sizeBytes - 1, sizeBytes);
  return [...wanted].sort((a, b) => a - b);
}
