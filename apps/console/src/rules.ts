/** Words for answers of the scheduler. Descriptions of rules and tiers come with the answers. */

const TIER_OUTCOMES: Record<string, string> = {
  won: 'Chosen',
  'no-node': 'No such node',
  'no-disk': 'None of their disks fits',
  'not-needed': 'Not needed',
};

export function tierOutcome(outcome: string): string {
  return TIER_OUTCOMES[outcome] ?? outcome;
}

/** `NodeNotReady` as `node not ready`. */
export function reasonInWords(reason: string): string {
  return reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
