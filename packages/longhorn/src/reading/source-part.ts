import type { ReadProblem } from './problem.js';

/** A file with objects. `file` is how a person finds it: the path, and inside an archive `bundle.zip/yamls/…`. */
export type SourceFile = { readonly kind: 'text'; readonly file: string; readonly text: string };

/** `unread`: it holds no relevant objects. */
export type SourcePart = SourceFile | ReadProblem | { readonly kind: 'unread'; readonly file: string };
