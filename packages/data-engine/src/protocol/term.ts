/** Conditions that commands to a copy carry: under which opening they were sent, and which state they are about. */
/** Epoch and lease of a command. Without a lease only the epoch counts: the caller has not opened the copy itself. */
export type Term = { readonly epoch: number; readonly lease?: number | undefined };

/** Precondition and result of a layer change. Absent: the change applies to any state of the copy. */
export type HeadChange = {
  /** The head that the caller expects. If the copy has another one, the command is refused. */
  readonly expectedHeadId?: string | undefined;
  /** Id of the head that the command makes. If the copy already has it, the command has already run. */
  readonly headId?: string | undefined;
};

/** Parameters of an engine's opening of a copy. */
export type Opening = {
  /** Starts over with this copy: earlier requests that are still on their way are refused, even of the same epoch. */
  readonly afresh?: boolean | undefined;
  /** Counter of the engine's openings, so that a late or duplicated one does not end its successor. */
  readonly count?: number | undefined;
  /** The grant of the epoch that the engine holds; absent if the control plane names none. */
  readonly grantId?: string | undefined;
  /** The volume as the control plane knows it, stored with a new epoch; engines name none. */
  readonly volume?: Readonly<Record<string, unknown>> | undefined;
};
