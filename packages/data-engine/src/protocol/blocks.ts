import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';

export function alignDown(offset: number): number {
  return offset - (offset % BLOCK_BYTES);
}

export function alignUp(offset: number): number {
  return alignDown(offset + BLOCK_BYTES - 1);
}

export function isAligned(offset: number, lengthBytes: number): boolean {
  return offset % BLOCK_BYTES === 0 && lengthBytes % BLOCK_BYTES === 0;
}
