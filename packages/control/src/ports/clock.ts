/** Time and chance, passed in so that a run can be repeated from one seed. */
export interface Clock {
  now(): Date;
}

export interface Random {
  /** A new UUID (version 7 in production, so that ids sort by age). */
  id(): string;
  /** A secret of at least 128 bits, URL-safe. */
  secret(): string;
}
