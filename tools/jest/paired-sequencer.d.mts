/** A sequencer of Jest's: what it asks of suites stands in its documentation. */
export default class PairedSequencer {
  constructor(options: unknown);
  sort(tests: readonly unknown[]): unknown[];
}
