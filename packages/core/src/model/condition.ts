/** Condition: one observed fact about a resource, in the form Kubernetes made common. */
export type Condition<Type extends string = string> = {
  type: Type;
  status: 'True' | 'False' | 'Unknown';
  /** Machine-readable, PascalCase; empty when there is nothing to say. */
  reason: string;
  /** For users. */
  message: string;
  lastTransitionAt: Date;
};

/**
 * Returns the list with one condition set. `lastTransitionAt` moves only when the status changes, so that it dates the status,
 * whatever happened to the message. An unchanged condition is the same object as before.
 */
export function withCondition<Type extends string>(
  conditions: readonly Condition<Type>[],
  next: Omit<Condition<Type>, 'lastTransitionAt'>,
  now: Date,
): Condition<Type>[] {
  const previous = conditions.find((condition) => condition.type === next.type);
  if (
    previous?.status === next.status &&
    previous.reason === next.reason &&
    previous.message === next.message
  )
    return [...conditions];
  const lastTransitionAt = previous?.status === next.status ? previous.lastTransitionAt : now;
  const others = conditions.filter((condition) => condition.type !== next.type);
  return [...others, { ...next, lastTransitionAt }].sort((a, b) => (a.type < b.type ? -1 : 1));
}

export function conditionOf<Type extends string>(
  conditions: readonly Condition<Type>[],
  type: Type,
): Condition<Type> | undefined {
  return conditions.find((condition) => condition.type === type);
}
