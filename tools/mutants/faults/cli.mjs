// Faults of the command line.
export const CLI_FAULTS = [
  {
    name: 'forbidden-looks-like-not-found',
    breaks: 'a refused permission ends with the exit code of permissions',
    file: 'apps/cli/src/exit-codes.ts',
    changes: [
      {
        find: 'if (status === 401 || status === 403) return EXIT.auth;',
        replace: 'if (status === 401) return EXIT.auth;',
      },
    ],
    foundBy: 'apps/cli/src/exit-codes.test.ts',
  },
  {
    name: 'first-of-two-is-taken',
    breaks: 'a name that several objects have is refused',
    file: 'apps/cli/src/find-named.ts',
    changes: [{ find: 'if (others.length > 0) {', replace: 'if (others.length > 99) {' }],
    foundBy: 'apps/cli/src/find-named.test.ts',
  },
  {
    name: 'escape-sequences-reach-the-terminal',
    breaks: 'control characters of tenants do not reach the terminal',
    file: 'apps/cli/src/output/printable.ts',
    changes: [
      {
        find: 'const isColour = found.startsWith(`',
        replace: 'const isColour = found.startsWith(ESCAPE) || found.startsWith(`',
      },
    ],
    foundBy: 'apps/cli/src/output/printable.test.ts',
  },
  {
    name: 'decimal-megabytes',
    breaks: 'all units of sizes are binary',
    file: 'apps/cli/src/output/quantities.ts',
    changes: [{ find: '  M: MIB,', replace: '  M: 1_000_000,' }],
    foundBy: 'apps/cli/src/output/quantities.test.ts',
  },
  {
    name: 'tokens-readable-by-others',
    breaks: 'a file of tokens that others may read is refused',
    file: 'apps/cli/src/contexts.ts',
    changes: [{ find: '.mode & 0o077) !== 0', replace: '.mode & 0o002) !== 0' }],
    foundBy: 'apps/cli/src/contexts.test.ts',
  },
  {
    name: 'wait-ends-before-a-volume-is-faulted',
    breaks: 'an attach waits for copies that may answer in a moment',
    file: 'apps/cli/src/commands/volume-attention.ts',
    changes: [
      {
        find: "needsPerson(volume) && (attention?.code !== COPIES_MISSING || robustness === 'faulted')",
        replace: 'needsPerson(volume)',
      },
    ],
    foundBy: 'apps/cli/src/commands/volume-attention.test.ts',
  },
  {
    name: 'attached-without-an-address',
    breaks: 'an attach has ended when the volume has an address',
    file: 'apps/cli/src/commands/volume-attention.ts',
    changes: [{ find: "state === 'attached' && endpoint !== null", replace: "state === 'attached'" }],
    foundBy: 'apps/cli/src/commands/volume-attention.test.ts',
  },
  {
    name: 'blocked-drain-is-called-possible',
    breaks: 'the plan of a blocked drain says what blocks it',
    file: 'apps/cli/src/commands/node-drain-text.ts',
    changes: [{ find: "plan.isPossible ? 'possible'", replace: "plan.volumes.length > 0 ? 'possible'" }],
    foundBy: 'apps/cli/src/commands/node-drain-text.test.ts',
  },
  {
    name: 'change-without-a-key-is-repeated',
    breaks: 'a change is sent again only with a key',
    file: 'apps/cli/src/send.ts',
    changes: [
      {
        find: "request.method === 'GET' || request.headers.has('idempotency-key')",
        replace: "request.method !== ''",
      },
    ],
    foundBy: 'apps/cli/src/send.test.ts',
  },
  {
    name: 'dry-run-makes-the-change',
    breaks: 'a dry run asks the API to change nothing',
    file: 'apps/cli/src/send.ts',
    changes: [{ find: "url.searchParams.set('dryRun', 'true');", replace: '' }],
    foundBy: 'apps/cli/src/send.test.ts',
  },
];
