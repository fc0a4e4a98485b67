/** Commands that change a copy, or decide which engine may. */
export const COMMANDS = [
  'open',
  'record',
  'snapshot',
  'mark-removed',
  'purge',
  'settle',
  'forget',
  'prepare',
  'pull',
] as const;
