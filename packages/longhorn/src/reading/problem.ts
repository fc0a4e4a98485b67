/** Problem of reading: the unreadable part, and its position. It is reported with the findings, so that no gap is silent. */
export type ReadProblem = {
  readonly kind: 'problem';
  /** `bound`: more than is read of anything; `format`: not what its name says; `value`: one value of an object. */
  readonly code: 'bound' | 'format' | 'value';
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
};

export type Tell = (problem: ReadProblem) => void;
