import type { LogPiece } from './log-pieces.js';
import type { ReadProblem } from './problem.js';

/** A file with objects. `file` is how a person finds it: the path, and inside an archive `bundle.zip/yamls/…`. */
export type SourceFile = { readonly kind: 'text'; readonly file: string; readonly text: string };

/** A log. Its pieces have to be read, or skipped, before the next part is requested. */
export type SourceLog = {
  readonly kind: 'log';
  readonly file: string;
  readonly pieces: AsyncIterable<LogPiece>;
};

/** `unread`: it holds no objects that are needed. */
export type SourcePart =
  | SourceFile
  | SourceLog
  | ReadProblem
  | { readonly kind: 'unread'; readonly file: string };
