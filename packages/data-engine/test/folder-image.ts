/**
 * Image of a folder: its files and folders in memory, made of recorded changes. Thousands are made of one recording and
 * differ in little, so whole pages of a change are cut once, are shared by all images, and are hashed once.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export const PAGE_BYTES = 4096;
/** The most buffers that Linux takes in one call. */
const PIECES_MAX = 1024;

/** A change of one file's bytes. */
export type ContentChange =
  | { kind: 'write'; position: number; bytes: Buffer }
  | { kind: 'truncate'; sizeBytes: number }
  | { kind: 'punch'; position: number; lengthBytes: number };

/** Bytes of a file by the number of their page; a page that is missing is a hole. No page is changed in place. */
export type Content = { sizeBytes: number; pages: Map<number, Buffer> };

/** Content of a folder, in memory. */
export type FolderImage = {
  readonly entries: readonly ({ name: string; folder: FolderImage } | { name: string; file: Content })[];
};

export function applyTo(content: Content, change: ContentChange): void {
  switch (change.kind) {
    case 'write':
      content.sizeBytes = Math.max(content.sizeBytes, change.position + change.bytes.length);
      for (const { index, from, bytes } of piecesOf(change)) {
        if (bytes.length === PAGE_BYTES) {
          content.pages.set(index, bytes);
          continue;
        }
        const page = Buffer.from(content.pages.get(index) ?? Buffer.alloc(PAGE_BYTES));
        bytes.copy(page, from);
        content.pages.set(index, page);
      }
      return;
    case 'punch':
      for (const { index } of pagesIn(change.position, change.lengthBytes)) content.pages.delete(index);
      return;
    case 'truncate':
      content.sizeBytes = change.sizeBytes;
      for (const index of [...content.pages.keys()])
        if (index * PAGE_BYTES >= change.sizeBytes) content.pages.delete(index);
      return;
  }
}

/** Part of a write that lies in one page, `from` so many bytes after the page's start. */
type Piece = { index: number; from: number; bytes: Buffer };

const cutWrites = new WeakMap<ContentChange, readonly Piece[]>();

function piecesOf(change: Extract<ContentChange, { kind: 'write' }>): readonly Piece[] {
  const known = cutWrites.get(change);
  if (known !== undefined) return known;
  const { position, bytes } = change;
  const pieces = pagesIn(position, bytes.length).map(({ index, start, end }) => ({
    index,
    from: start - index * PAGE_BYTES,
    bytes: bytes.subarray(start - position, end - position),
  }));
  cutWrites.set(change, pieces);
  return pieces;
}

/** The pages that a range of a file touches, each with the positions between which it does. */
function pagesIn(position: number, lengthBytes: number): { index: number; start: number; end: number }[] {
  const pages: { index: number; start: number; end: number }[] = [];
  const rangeEnd = position + lengthBytes;
  for (let start = position; start < rangeEnd; ) {
    const index = Math.floor(start / PAGE_BYTES);
    const end = Math.min(rangeEnd, (index + 1) * PAGE_BYTES);
    pages.push({ index, start, end });
    start = end;
  }
  return pages;
}

/** Writes the image into a new folder. */
export function writeImage(image: FolderImage, into: string): void {
  fs.mkdirSync(into, { recursive: true });
  for (const entry of image.entries) {
    const target = path.join(into, entry.name);
    if ('folder' in entry) writeImage(entry.folder, target);
    else writeContent(target, entry.file);
  }
}

/** In as few calls as there are runs of pages: one per page, each through Node's thread pool, took most of a test's time. */
function writeContent(file: string, content: Content): void {
  const descriptor = fs.openSync(file, 'w');
  try {
    fs.ftruncateSync(descriptor, content.sizeBytes);
    for (const { position, pieces } of runsOf(content)) {
      const lengthBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const written = fs.writevSync(descriptor, pieces, position);
      if (written !== lengthBytes) throw new Error(`${file}: ${written} bytes of ${lengthBytes} are written`);
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Neighbouring pages together, none past the file's end. */
function runsOf({ sizeBytes, pages }: Content): { position: number; pieces: Buffer[] }[] {
  const runs: { position: number; pieces: Buffer[] }[] = [];
  let next = -1;
  for (const index of sorted(pages)) {
    const lengthBytes = Math.min(PAGE_BYTES, sizeBytes - index * PAGE_BYTES);
    const page = pages.get(index);
    if (page === undefined || lengthBytes <= 0) continue;
    const piece = page.subarray(0, lengthBytes);
    const last = runs.at(-1);
    if (index === next && last !== undefined && last.pieces.length < PIECES_MAX) last.pieces.push(piece);
    else runs.push({ position: index * PAGE_BYTES, pieces: [piece] });
    next = index + 1;
  }
  return runs;
}

/** Hash of an image; equal for images that are written as the same bytes. */
export function fingerprint(image: FolderImage): string {
  const hash = crypto.createHash('sha1');
  const add = ({ entries }: FolderImage): void => {
    for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      hash.update(`\0${entry.name}\0`);
      if ('folder' in entry) {
        add(entry.folder);
        continue;
      }
      const { sizeBytes, pages } = entry.file;
      const digests = sorted(pages).map((index) => `${index} ${digestOf(pages.get(index))}`);
      hash.update(`${sizeBytes}\0${digests.join('\0')}`);
    }
    hash.update('\0end\0');
  };
  add(image);
  return hash.digest('hex');
}

const digests = new WeakMap<Buffer, string>();

function digestOf(page: Buffer | undefined): string {
  if (page === undefined) return '';
  const known = digests.get(page);
  if (known !== undefined) return known;
  const digest = crypto.createHash('sha1').update(page).digest('base64');
  digests.set(page, digest);
  return digest;
}

function sorted(pages: Content['pages']): number[] {
  return [...pages.keys()].sort((a, b) => a - b);
}
