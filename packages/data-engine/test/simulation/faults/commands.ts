/** Commands that change a copy, or decide which engine may. */
export const COMMANDS = [
  'open',
  'record',
  'snapshot',
  'mark-removed',
  'purge',
  'tell-whole',
  'clear-intent',
  'prepare',
  'pull',
] as const;
