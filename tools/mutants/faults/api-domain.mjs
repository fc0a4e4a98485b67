// Faults of the API, folders from actions to graphql.
export const API_DOMAIN_FAULTS = [
  {
    name: 'action-without-a-version',
    breaks: 'an answer to an action carries the version of its object',
    file: 'apps/api/src/resources/actions/serve-action.ts',
    changes: [
      {
        find: `        void reply.header('etag', etagOf(view.version));
      return view;`,
        replace: `        void view.version;
      return view;`,
      },
    ],
    foundBy: 'apps/api/test/repeated-and-conditional-requests.test.ts',
  },
  {
    name: 'risk-is-always-safe',
    breaks: 'the risk of a cluster is told from the facts',
    file: 'apps/api/src/resources/clusters/clusters.controller.ts',
    changes: [
      {
        find: 'return riskView(clusterRisk(facts));',
        replace: 'return riskView(clusterRisk({ ...facts, volumes: [], unread: 0 }));',
      },
    ],
    foundBy: 'apps/api/test/cluster-risk.test.ts',
  },
  {
    name: 'forecast-from-what-is-shown',
    breaks: 'the forecast of a capacity looks at a month',
    file: 'apps/api/src/resources/clusters/capacity.controller.ts',
    changes: [{ find: 'capacityTrend(looked.samples,', replace: 'capacityTrend(shown.samples.slice(0, 1),' }],
    foundBy: 'apps/api/test/capacity-history.test.ts',
  },
  {
    name: 'codes-guessed-without-a-limit',
    breaks: 'a user guesses ten codes at most',
    file: 'apps/api/src/resources/device/device.controller.ts',
    changes: [
      {
        find: 'return this.limits.attempt(attempt, async () => {',
        replace: 'return (async (_attempt: unknown) => {',
      },
      {
        find: `return found;
    });`,
        replace: `return found;
    })(attempt);`,
      },
    ],
    foundBy: 'apps/api/test/device.test.ts',
  },
  {
    name: 'accepted-is-told-as-done',
    breaks: 'an action whose work goes on answers 202',
    file: 'apps/api/src/resources/actions/serve-action.ts',
    changes: [{ find: 'isDone === undefined || !isDone(view, body)', replace: 'isDone === undefined' }],
    foundBy: 'apps/api/test/volumes.test.ts',
  },
  {
    name: 'agent-sends-calls-elsewhere',
    breaks: 'an agent is reached at its own address or in an allowed network',
    file: 'apps/api/src/resources/agent/agent-addresses.ts',
    changes: [
      {
        find: 'addresses.find((address) => !this.isAllowed(address, canonical(connectedFrom)))',
        replace: 'addresses.slice(1).find((address) => !this.isAllowed(address, canonical(connectedFrom)))',
      },
    ],
    foundBy: 'apps/api/src/resources/agent/agent-addresses.test.ts',
  },
  {
    name: 'revoked-agent-is-heard',
    breaks: 'an agent whose certificate was revoked is not heard',
    file: 'apps/api/src/access/agent-authenticator.ts',
    changes: [{ find: 'if (identity.revokedAt !== undefined)', replace: 'if (identity.revokedAt === null)' }],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'older-key-is-heard',
    breaks: 'a certificate counts while its key is that of the node',
    file: 'apps/api/src/access/agent-authenticator.ts',
    changes: [{ find: 'if (identity.keyHash !== keyHash)', replace: 'if (identity.keyHash === undefined)' }],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'silence-without-an-end',
    breaks: 'a silence ends within ninety days',
    file: 'apps/api/src/resources/alerts/silences.controller.ts',
    changes: [{ find: '> DAYS_MAX * DAY_MS', replace: '> 100 * DAYS_MAX * DAY_MS' }],
    foundBy: 'apps/api/test/alerts.test.ts',
  },
  {
    name: 'ended-silence-ends-again',
    breaks: 'a silence that has ended keeps its end',
    file: 'apps/api/src/resources/alerts/silences.controller.ts',
    changes: [{ find: 'if (found.endsAt > now) await', replace: 'await' }],
    foundBy: 'apps/api/test/alerts.test.ts',
  },
  {
    name: 'broken-chain-is-intact',
    breaks: 'a chain of the audit log that is broken is not told as intact',
    file: 'apps/api/src/resources/audit/audit.view.ts',
    changes: [
      {
        find: 'intact: broken === undefined,',
        replace: 'intact: broken === undefined || report.checked > 0,',
      },
    ],
    foundBy: 'apps/api/test/audit.test.ts',
  },
  {
    name: 'export-without-results',
    breaks: 'an export of the audit log tells what was refused',
    file: 'apps/api/src/resources/audit/export-audit.ts',
    changes: [
      {
        find: `  ['result', ({ result }) => result],
`,
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/audit.test.ts',
  },
  {
    name: 'change-from-another-site',
    breaks: 'a session changes things from its own site only',
    file: 'apps/api/src/access/authenticator.ts',
    changes: [
      {
        find: '!SAFE_METHODS.has(request.method) && !isFromOwnPages(request)',
        replace: '!SAFE_METHODS.has(request.method) && request.headers.origin === "null"',
      },
    ],
    foundBy: 'apps/api/test/sign-in-and-sessions.test.ts',
  },
  {
    name: 'token-from-anywhere',
    breaks: 'a token that is bound to addresses is good from them only',
    file: 'apps/api/src/access/token-limits.ts',
    changes: [
      {
        find: 'if (addressRanges === undefined || isWithin(address, addressRanges)) return;',
        replace: 'if (addressRanges === undefined || addressRanges.length > 0) return;',
      },
    ],
    foundBy: 'apps/api/test/tokens.test.ts',
  },
  {
    name: 'cluster-without-a-grant',
    breaks: 'a volume is made in a granted cluster only with a grant',
    file: 'apps/api/src/resources/clusters/require-cluster.ts',
    changes: [
      {
        find: `if (use === undefined) throw clusterNotFound(clusterId);
  return use;`,
        replace: 'return use ?? { grantedTags: undefined };',
      },
    ],
    foundBy: 'apps/api/test/grants.test.ts',
  },
  {
    name: 'token-approves-a-program',
    breaks: 'a program is approved by a user who has signed in',
    file: 'apps/api/src/resources/device/device.controller.ts',
    changes: [{ find: "if (tokenKind !== 'session') {", replace: 'if (tokenKind === undefined) {' }],
    foundBy: 'apps/api/test/device.test.ts',
  },
  {
    name: 'unknown-dry-run-is-a-change',
    breaks: 'a dry run that a route does not know is refused',
    file: 'apps/api/src/resources/dry-runs/dry-run.interceptor.ts',
    changes: [
      {
        find: "if (route?.dryRun === undefined) throw invalidQuery('dryRun', 'is not known here');",
        replace: 'if (route?.dryRun === undefined) return next.handle();',
      },
    ],
    foundBy: 'apps/api/test/dry-runs.test.ts',
  },
  {
    name: 'rehearsal-commits',
    breaks: 'a dry run changes nothing',
    file: 'apps/api/src/resources/dry-runs/rehearse.ts',
    changes: [
      {
        find: `const dry = tenant.rehearsing();
`,
        replace: `const dry = tenant;
`,
      },
    ],
    foundBy: 'apps/api/test/dry-runs.test.ts',
  },
  {
    name: 'unread-stream-without-a-bound',
    breaks: 'a stream whose reader takes nothing is cut off',
    file: 'apps/api/src/resources/events/bounded-response.ts',
    changes: [{ find: 'if (response.writableLength > BUFFERED_BYTES_MAX) response.destroy();', replace: '' }],
    foundBy: 'apps/api/src/resources/events/bounded-response.test.ts',
  },
  {
    name: 'streams-of-one-organization',
    breaks: 'an organization leaves room for the streams of others',
    file: 'apps/api/src/resources/events/open-streams.ts',
    changes: [{ find: 'if (ofOrganization >= left) {', replace: 'if (ofOrganization > ofProcess) {' }],
    foundBy: 'apps/api/src/resources/events/open-streams.test.ts',
  },
  {
    name: 'stream-outlives-its-roles',
    breaks: 'a stream ends when the roles of its token change',
    file: 'apps/api/src/resources/events/open-streams.ts',
    changes: [
      {
        find: 'if (now === undefined || textOf(now) !== before) stream.close();',
        replace: 'if (now === undefined) stream.close();',
      },
    ],
    foundBy: 'apps/api/test/event-streams.test.ts',
  },
  {
    name: 'grant-to-oneself',
    breaks: 'a cluster is granted to another organization only',
    file: 'packages/control/src/use-cases/grant-cluster.ts',
    changes: [
      {
        find: `organizationId === by.organizationId
`,
        replace: `organizationId === undefined
`,
      },
    ],
    foundBy: 'packages/simulator/src/store/memory-access.test.ts',
  },
  {
    name: 'grant-under-a-stale-version',
    breaks: 'a grant is changed under its version',
    file: 'packages/control/src/use-cases/grant-cluster.ts',
    changes: [
      {
        find: 'assertVersion(grant.version, ifVersion);',
        replace: '',
      },
    ],
    foundBy: 'packages/simulator/src/store/memory-access.test.ts',
  },
  {
    name: 'names-are-suggested',
    breaks: 'where the schema is hidden no name of it is suggested',
    file: 'apps/api/src/graphql/hidden-schema.ts',
    changes: [
      {
        find: 'if (!SUGGESTION.test(message)) return error;',
        replace: 'if (SUGGESTION.test(message)) return error;',
      },
    ],
    foundBy: 'apps/api/src/graphql/hidden-schema.test.ts',
  },
  {
    name: 'slow-subscriber-without-a-bound',
    breaks: 'a subscriber that reads too slowly is ended',
    file: 'apps/api/src/graphql/message-queue.ts',
    changes: [{ find: '>= this.waitingMax) this.end();', replace: '>= 100 * this.waitingMax) this.end();' }],
    foundBy: 'apps/api/src/graphql/message-queue.test.ts',
  },
  {
    name: 'fragments-cost-nothing',
    breaks: 'fragments count where they are spread',
    file: 'apps/api/src/graphql/limits.ts',
    changes: [
      {
        find: 'if (fragment !== undefined) count += rootFields(context, fragment.selectionSet, within);',
        replace: 'if (fragment !== undefined) count += 1;',
      },
    ],
    foundBy: 'apps/api/test/hostile-graphql.test.ts',
  },
  {
    name: 'long-lists-cost-nothing',
    breaks: 'a list costs as often as its fields come back',
    file: 'apps/api/src/graphql/limits.ts',
    changes: [{ find: 'cost: 1 + itemsOf(type, found, node) * inner.cost', replace: 'cost: 1 + inner.cost' }],
    foundBy: 'apps/api/test/hostile-graphql.test.ts',
  },
];
