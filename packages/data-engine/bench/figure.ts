/** One measured figure of a benchmark. */
export type Figure = {
  readonly bench: string;
  readonly case: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What the same run measured for comparison; the figure's ratio is `value` over it. */
  readonly baseline?: number | undefined;
  readonly target?: number | undefined;
  /** Asks for a ratio instead: the target is then that share of the baseline. */
  readonly ratioTarget?: number | undefined;
  /** Which side of the target is met; `higher` unless it says otherwise. */
  readonly better?: 'lower' | 'higher' | undefined;
  /** What Longhorn did elsewhere, for orientation. */
  readonly longhorn?: string | undefined;
};

export type Report = (figure: Figure) => void;

export type BenchOptions = {
  /** Fewer and smaller measurements, to see that a benchmark works. */
  readonly quick: boolean;
  readonly report: Report;
};
