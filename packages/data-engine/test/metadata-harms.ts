/** Ways in which a page of metadata rots, and which pages of a file are metadata. */
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';

export const PAGE = 4096;
const NOTHING = Buffer.alloc(PAGE);
const SECTOR = 512;
/** Beginning of each data block, which tells it from metadata. */
export const DATA_MARK = Buffer.from('data of a user: ');

export type Harm = { name: string; apply: (bytes: Buffer, page: number) => void };

export function harmsBy(random: SeededRandom): readonly Harm[] {
  return [
    {
      name: 'a bit',
      apply: (bytes, page) => {
        const at = page + random.below(Math.min(PAGE, bytes.length - page));
        bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << random.below(8)), at);
      },
    },
    { name: 'a blank page', apply: (bytes, page) => void bytes.subarray(page, page + PAGE).fill(0) },
    {
      name: 'a blank sector',
      apply: (bytes, page) => {
        const at = page + random.below(8) * SECTOR;
        bytes.subarray(at, at + SECTOR).fill(0);
      },
    },
    {
      name: 'noise',
      apply: (bytes, page) => void random.bytes(Math.min(PAGE, bytes.length - page)).copy(bytes, page),
    },
    {
      name: 'another page of the same file',
      apply: (bytes, page) => {
        const pages = pagesIn(bytes).filter((other) => other !== page);
        if (pages.length === 0) return;
        const other = random.pick(pages);
        bytes.copyWithin(page, other, Math.min(bytes.length, other + PAGE));
      },
    },
  ];
}

/** Offsets of pages with content other than users' data. */
export function pagesIn(bytes: Buffer): number[] {
  const pages: number[] = [];
  for (let at = 0; at < bytes.length; at += PAGE) {
    const page = bytes.subarray(at, at + PAGE);
    const isData = page.subarray(0, DATA_MARK.length).equals(DATA_MARK);
    if (!isData && !page.equals(NOTHING.subarray(0, page.length))) pages.push(at);
  }
  return pages;
}
