import { createHash } from 'node:crypto';
import type { TableSum } from './contents.js';

const NEWLINE = 0x0a;

/** Counts the rows of a table and sums them up. In Postgres' text form each row is one line, whatever it holds. */
export class RunningSum {
  private readonly hash = createHash('sha256');
  private rows = 0;

  constructor(private readonly name: string) {}

  add(chunk: Buffer): void {
    this.hash.update(chunk);
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.rows += 1;
  }

  total(): TableSum {
    return { name: this.name, rows: this.rows, sha256: this.hash.digest('hex') };
  }
}
