// Faults of the worker.
export const WORKER_FAULTS = [
  {
    name: 'slow-call-proves-silence',
    breaks: 'an agent that answered others meanwhile is not silent',
    file: 'apps/worker/src/agents/agent-circuits.ts',
    changes: [
      {
        find: '(this.heardAtMs.get(controlUrl) ?? Number.NEGATIVE_INFINITY) < startedAtMs',
        replace: 'startedAtMs >= 0',
      },
    ],
    foundBy: 'apps/worker/src/agents/agent-circuits.test.ts',
  },
  {
    name: 'probe-without-a-pause',
    breaks: 'a silent agent is probed once a second at most',
    file: 'apps/worker/src/agents/agent-circuits.ts',
    changes: [{ find: 'if (this.nowMs() - silence.probedAtMs < PROBE_PAUSE_MS) return false;', replace: '' }],
    foundBy: 'apps/worker/src/agents/agent-circuits.test.ts',
  },
  {
    name: 'refused-call-is-silence',
    breaks: 'an agent that refuses a call is not silent',
    file: 'apps/worker/src/agents/agent-circuits.ts',
    changes: [
      {
        find: `if (!(error instanceof SilenceError)) this.heard(controlUrl);
      else if`,
        replace: 'if',
      },
    ],
    foundBy: 'apps/worker/src/agents/agent-circuits.test.ts',
  },
  {
    name: 'restarting-agent-is-gone',
    breaks: 'an agent whose port is closed for a moment is asked once more',
    file: 'apps/worker/src/agents/ask-agent.ts',
    changes: [
      {
        find: `  await sleep(BETWEEN_MS);
  return askOnce(controlUrl);`,
        replace: '  return first;',
      },
    ],
    foundBy: 'apps/worker/src/agents/ask-agent.test.ts',
  },
  {
    name: 'unreachable-host-is-gone',
    breaks: 'only a refused connection says that an agent is gone',
    file: 'apps/worker/src/agents/ask-agent.ts',
    changes: [
      {
        find: "if (code === 'ECONNREFUSED') return 'gone';",
        replace: "if (code.startsWith('E')) return 'gone';",
      },
    ],
    foundBy: 'apps/worker/src/agents/ask-agent.test.ts',
  },
  {
    name: 'answer-of-an-agent-without-a-bound',
    breaks: 'an answer that is too long ends the call',
    file: 'apps/worker/src/agents/http-agent-client.ts',
    changes: [{ find: 'if (length > ANSWER_BYTES_MAX)', replace: 'if (length > 64 * ANSWER_BYTES_MAX)' }],
    foundBy: 'apps/worker/src/agents/http-agent-client.test.ts',
  },
  {
    name: 'refusal-loses-the-newest-epoch',
    breaks: 'a refusal keeps the epoch that the copy knows',
    file: 'apps/worker/src/agents/http-agent-client.ts',
    changes: [{ find: '...(newest === undefined ? {} : { newest })', replace: '' }],
    foundBy: 'apps/worker/src/agents/http-agent-client.test.ts',
  },
  {
    name: 'certificate-of-any-node',
    breaks: 'an agent is called by the name of its own node',
    file: 'apps/worker/src/agents/http-agent-client.ts',
    changes: [{ find: 'headers: { host: nodeDnsName(agent.id) }', replace: 'headers: {}' }],
    foundBy: 'apps/worker/src/agents/agent-tls.test.ts',
  },
  {
    name: 'ready-without-a-database',
    breaks: 'a worker whose database does not answer is not ready',
    file: 'apps/worker/src/health/health-server.ts',
    changes: [
      {
        find: "return { name, status: 'failed', detail: 'no answer' };",
        replace: "return { name, status: 'ok' };",
      },
    ],
    foundBy: 'apps/worker/src/health/health-server.test.ts',
  },
  {
    name: 'started-worker-starts-again',
    breaks: 'a worker that was ready once has started',
    file: 'apps/worker/src/health/health-server.ts',
    changes: [
      { find: 'this.wasReady ||= isHealthy(checks);', replace: 'this.wasReady = isHealthy(checks);' },
    ],
    foundBy: 'apps/worker/src/health/health-server.test.ts',
  },
  {
    name: 'worker-metrics-through-a-proxy',
    breaks: "the worker's metrics are not told to a proxy's callers",
    file: 'apps/worker/src/health/health-server.ts',
    changes: [
      {
        find: "return headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;",
        replace: 'return headers.forwarded !== undefined;',
      },
    ],
    foundBy: 'apps/worker/src/health/health-server.test.ts',
  },
  {
    name: 'gap-where-trouble-ended',
    breaks: 'a cluster without trouble has zeros',
    file: 'apps/worker/src/metrics/cluster-samples.ts',
    changes: [
      {
        find: `    sample('holdfast_volume_robustness', { cluster, robustness: 'faulted' }, 0),
`,
        replace: '',
      },
    ],
    foundBy: 'apps/worker/src/metrics/cluster-samples.test.ts',
  },
  {
    name: 'silent-node-counts-as-ready',
    breaks: 'a node that is not ready has 0',
    file: 'apps/worker/src/metrics/cluster-samples.ts',
    changes: [{ find: 'ready ? 1 : 0', replace: '1' }],
    foundBy: 'apps/worker/src/metrics/cluster-samples.test.ts',
  },
  {
    name: 'reserve-counts-as-used',
    breaks: 'the used bytes of a disk are those that are not available',
    file: 'apps/worker/src/metrics/cluster-samples.ts',
    changes: [
      { find: 'Math.max(0, capacity - available)', replace: 'Math.max(0, capacity - available + reserved)' },
    ],
    foundBy: 'apps/worker/src/metrics/cluster-samples.test.ts',
  },
  {
    name: 'long-run-may-not-act',
    breaks: 'a run that went on without its slot goes on acting',
    file: 'apps/worker/src/runtime/long-runs.ts',
    changes: [
      {
        find: `    run.isLong = true;
`,
        replace: '',
      },
    ],
    foundBy: 'apps/worker/src/runtime/long-runs.test.ts',
  },
  {
    name: 'one-organization-takes-all-runs',
    breaks: 'the runs of one organization leave room for others',
    file: 'apps/worker/src/runtime/long-runs.ts',
    changes: [
      {
        find: 'ofOwner < this.limits.runsMax - this.long.size',
        replace: 'this.long.size < this.limits.runsMax && ofOwner >= 0',
      },
    ],
    foundBy: 'apps/worker/src/runtime/long-runs.test.ts',
  },
  {
    name: 'wake-up-during-a-run-is-lost',
    breaks: 'a wake-up that comes during a long run is repeated after it',
    file: 'apps/worker/src/runtime/long-runs.ts',
    changes: [{ find: 'if (run.isWanted) await this.hooks.wakeAgain(key);', replace: '' }],
    foundBy: 'apps/worker/src/runtime/long-runs.test.ts',
  },
  {
    name: 'repetition-ends-with-an-error',
    breaks: 'a periodic task goes on after an error',
    file: 'apps/worker/src/runtime/repeat.ts',
    changes: [
      {
        find: `      this.onError(error);
    }`,
        replace: `      this.onError(error);
      return;
    }`,
      },
    ],
    foundBy: 'apps/worker/src/runtime/repeat.test.ts',
  },
  {
    name: 'public-receiver-in-clear',
    breaks: 'beyond the networks of the operator a webhook is sent over TLS only',
    file: 'apps/worker/src/webhooks/send-signed.ts',
    changes: [
      {
        find: `    if (refusal !== undefined) return refused(refusal);
`,
        replace: `    void refusal;
`,
      },
    ],
    foundBy: 'apps/worker/src/webhooks/webhooks.test.ts',
  },
  {
    name: 'signed-with-the-oldest-secret',
    breaks: 'a message is signed with each secret that is good',
    file: 'apps/worker/src/webhooks/send-signed.ts',
    changes: [{ find: 'secrets.map((secret) =>', replace: 'secrets.slice(-1).map((secret) =>' }],
    foundBy: 'apps/worker/src/webhooks/webhooks.test.ts',
  },
];
