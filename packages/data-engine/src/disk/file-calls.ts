/**
 * System calls on open files as promises: one promise per transfer, however often the kernel stops half-way. Hot path
 * of every request, so allocations are kept to a minimum.
 */
import fs from 'node:fs';
import { Bug } from '@holdfast/core/model/faults.js';
import { type Payload, payloadLength } from '../nbd/export.js';

/** Maximum number of pieces in one vectored call (IOV_MAX). */
const PIECES_MAX = 1024;

export function openFile(path: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, fd) => (error === null ? resolve(fd) : reject(error)));
  });
}

export function closeFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.close(fd, (error) => (error == null ? resolve() : reject(error)));
  });
}

export function resizeFile(fd: number, sizeBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.ftruncate(fd, sizeBytes, (error) => (error === null ? resolve() : reject(error)));
  });
}

export function syncFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

export function statFile(fd: number): Promise<fs.BigIntStats> {
  return new Promise((resolve, reject) => {
    fs.fstat(fd, { bigint: true }, (error, stats) => (error === null ? resolve(stats) : reject(error)));
  });
}

/**
 * Fills the whole buffer; bytes past the end of the file read as zeros. A count that is no multiple of `unitBytes`
 * means the end of the file: a direct read that continued from the middle of a block would be refused.
 */
export function readFully(fd: number, buffer: Buffer, position: number, unitBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = (done: number) => {
      fs.read(fd, buffer, done, buffer.length - done, position + done, (error, count) => {
        const reached = done + count;
        if (error !== null) reject(error);
        else if (reached < buffer.length && count > 0 && count % unitBytes === 0) from(reached);
        else {
          buffer.fill(0, reached);
          resolve();
        }
      });
    };
    from(0);
  });
}

/** Writes all pieces in order. */
export function writeFully(fd: number, pieces: Payload, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    beginWriting(fd, pieces, position, (failure) => (failure === undefined ? resolve() : reject(failure)));
  });
}

/** The same without a promise. Calls `ended` when the kernel no longer uses the memory of the pieces. */
export function beginWriting(fd: number, pieces: Payload, position: number, ended: WriteEnd): void {
  writeOnce(fd, pieces, position, (error, count) => {
    if (error !== null) ended(error);
    else if (count === payloadLength(pieces)) ended(undefined);
    else if (count === 0) ended(new Bug('a write made no progress'));
    else beginWriting(fd, dropBytes(pieces, count), position + count, ended);
  });
}

/** Receives the outcome of a write; `undefined`: it succeeded. */
export type WriteEnd = (failure: unknown) => void;

type Written = (error: Error | null, count: number) => void;

function writeOnce(fd: number, pieces: Payload, position: number, written: Written): void {
  const [first] = pieces;
  // A single piece is the usual case, and the plain call is cheaper.
  if (pieces.length === 1 && first !== undefined) fs.write(fd, first, 0, first.length, position, written);
  else fs.writev(fd, pieces.length > PIECES_MAX ? pieces.slice(0, PIECES_MAX) : pieces, position, written);
}

function dropBytes(pieces: Payload, count: number): Payload {
  let skipped = 0;
  for (const [index, piece] of pieces.entries()) {
    if (skipped + piece.length > count) return [piece.subarray(count - skipped), ...pieces.slice(index + 1)];
    skipped += piece.length;
  }
  return [];
}
