// Faults of the API, folders from health to placements.
export const API_NODE_FAULTS = [
  {
    name: 'orphans-removed-by-readers',
    breaks: 'removing an orphan takes the right to change nodes',
    file: 'apps/api/src/resources/orphans/orphans.controller.ts',
    changes: [{ find: "access: 'node:write'", replace: "access: 'node:read'" }],
    foundBy: 'apps/api/test/orphans.test.ts',
  },
  {
    name: 'what-if-without-its-losses',
    breaks: 'a what-if loses what it is asked to lose',
    file: 'apps/api/src/resources/placements/placements.service.ts',
    changes: [
      { find: '[request, view, tenant.now]', replace: '[{ ...request, lose: {} }, view, tenant.now]' },
    ],
    foundBy: 'apps/api/test/placements.test.ts',
  },
  {
    name: 'ready-without-the-system-role',
    breaks: 'a process that can not answer agents is not ready',
    file: 'apps/api/src/app/health/readiness.ts',
    changes: [
      {
        find: "otherwise: HealthCheck['status'] = 'failed'",
        replace: "otherwise: HealthCheck['status'] = 'degraded'",
      },
    ],
    foundBy: 'apps/api/src/app/health/readiness.test.ts',
  },
  {
    name: 'lagging-outbox-is-fine',
    breaks: 'a change that waits too long for a worker is told',
    file: 'apps/api/src/app/health/readiness.ts',
    changes: [
      {
        find: 'if (lagSeconds <= OUTBOX_LAG_SECONDS_MAX) return OK;',
        replace: 'if (lagSeconds <= 1e9) return OK;',
      },
    ],
    foundBy: 'apps/api/test/health.test.ts',
  },
  {
    name: 'api-metrics-for-all',
    breaks: 'metrics are for the operator',
    file: 'apps/api/src/app/metrics/serve-metrics.ts',
    changes: [
      {
        find: 'if (!mayReadMetrics(scraper, token)) {',
        replace: 'if (!mayReadMetrics(scraper, token) && token === undefined) {',
      },
    ],
    foundBy: 'apps/api/test/built/operations.test.ts',
    onDist: true,
  },
  {
    name: 'refusals-are-not-counted',
    breaks: 'refusals are counted by their code',
    file: 'apps/api/src/app/metrics/api-metrics.ts',
    changes: [
      {
        find: 'if (request.refusal !== undefined) this.refusals.inc({ code: request.refusal });',
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/built/operations.test.ts',
    onDist: true,
  },
  {
    name: 'silent-node-is-shown-as-ready',
    breaks: 'a node that does not answer is shown so',
    file: 'apps/api/src/resources/nodes/node.view.ts',
    changes: [
      { find: 'shownNodeConditions(node, unansweredAt)', replace: 'shownNodeConditions(node, undefined)' },
    ],
    foundBy: 'apps/api/test/unanswering-nodes.test.ts',
  },
  {
    name: 'revoking-leaves-the-certificate',
    breaks: 'a node whose identity is revoked is not heard',
    file: 'apps/api/src/resources/nodes/join-tokens.controller.ts',
    changes: [
      {
        find: `    await tenant.write((sql) => revokeIdentity(sql, { ...path, now: tenant.now }));
`,
        replace: '',
      },
    ],
    foundBy: 'apps/api/test/agents.test.ts',
  },
  {
    name: 'provider-leads-to-this-machine',
    breaks: 'an address of a provider on this machine is not called',
    file: 'apps/api/src/resources/oidc/provider-guard.ts',
    changes: [
      {
        find: 'const wrong = addresses.find((address) => isWithin(address, NEVER));',
        replace: 'const wrong = addresses.slice(1).find((address) => isWithin(address, NEVER));',
      },
    ],
    foundBy: 'apps/api/src/resources/oidc/provider-guard.test.ts',
  },
  {
    name: 'provider-in-clear',
    breaks: 'a provider is called over HTTPS only',
    file: 'apps/api/src/resources/oidc/provider-guard.ts',
    changes: [
      { find: "if (url.protocol !== 'https:') throw", replace: "if (url.protocol === 'ftp:') throw" },
    ],
    foundBy: 'apps/api/src/resources/oidc/provider-guard.test.ts',
  },
  {
    name: 'sealed-cookie-for-ever',
    breaks: 'a sealed cookie ends at its time',
    file: 'apps/api/src/resources/oidc/sealed-cookie.ts',
    changes: [
      {
        find: "Number(fieldOf(content, 'endsAtMs')) > now.getTime() ? fieldOf(content, 'value') : undefined",
        replace: "Number(fieldOf(content, 'endsAtMs')) > 0 ? fieldOf(content, 'value') : undefined",
      },
    ],
    foundBy: 'apps/api/src/resources/oidc/sealed-cookie.test.ts',
  },
  {
    name: 'wait-without-a-bound',
    breaks: 'a caller waits half a minute at most',
    file: 'apps/api/src/resources/operations/preferred-wait.ts',
    changes: [{ find: 'Math.min(WAIT_SECONDS_MAX, Number(', replace: 'Math.max(0, Number(' }],
    foundBy: 'apps/api/src/resources/operations/preferred-wait.test.ts',
  },
  {
    name: 'cancel-without-a-permission',
    breaks: 'an operation is cancelled with the permission of what it cancels',
    file: 'apps/api/src/resources/operations/cancel-operation.ts',
    changes: [
      { find: 'const { ports } = assertAllowed(caller, permission);', replace: 'const { ports } = caller;' },
    ],
    foundBy: 'apps/api/test/operation-resources.test.ts',
  },
  {
    name: 'orphan-is-told-as-gone-early',
    breaks: 'an orphan that is asked to go is told as it is then',
    file: 'apps/api/src/resources/orphans/orphans.service.ts',
    changes: [
      {
        find: "return found === undefined ? { ...before, state: 'removing' } : orphanView(found);",
        replace: 'return before;',
      },
    ],
    foundBy: 'apps/api/test/orphans.test.ts',
  },
  {
    name: 'drain-plan-of-the-default-policy',
    breaks: 'a drain is planned under the policy that was asked for',
    file: 'apps/api/src/resources/placements/placements.service.ts',
    changes: [
      { find: '[node, policy, view, tenant.now]', replace: "[node, 'always-allow', view, tenant.now]" },
    ],
    foundBy: 'apps/api/test/node-actions.test.ts',
  },
];
