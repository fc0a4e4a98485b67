// How long volumes stay on a single copy after failures, by the order in which their rebuilds are admitted: riskiest first with
// preemption, as admission does it, beside first come, first served under the same limits. The queue is the production
// function, played in virtual time; a quarter of the volumes has one copy left, sizes are 10 to 500 GiB.

import { planAdmissions } from '@holdfast/core/admission/plan-admissions.js';
import { GIB, MIB } from '@holdfast/core/model/bytes.js';
import { asId, type ClusterId, type NodeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { aRebuild, testId } from '@holdfast/testkit/builders.js';
import { aNode } from '@holdfast/testkit/fleet-builder.js';
import { Chance } from '@holdfast/testkit/random-fleet.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const NODES = 10;
const VOLUMES = 200;
const SEEDS = 20;
const BYTES_PER_SECOND = 200 * MIB;
/** Failures come within an hour, far faster than they are made good. */
const WITHIN_SECONDS = 3_600;
const SHARE_ON_LAST_COPY = 0.25;

type Order = 'riskiest first' | 'first come';
type Work = { rebuild: Rebuild; readonly risky: boolean; readonly comesAt: number; leftSeconds: number };

export async function run({ quick }: RunOptions): Promise<void> {
  const seeds = quick ? 3 : SEEDS;
  for (const limit of [1, 2]) {
    const hours = (order: Order) => mean(seeds, (seed) => exposedSeconds(seed, limit, order)) / 3_600;
    report({
      bench: 'admission',
      case: `${VOLUMES} rebuilds on ${NODES} nodes, limit ${limit}`,
      metric: 'volume-hours on a single copy',
      value: hours('riskiest first'),
      baseline: hours('first come'),
      unit: 'h',
      better: 'lower',
      ratioTarget: 1 / 3,
    });
  }
}

/** Seconds that volumes were on a single copy, added up. */
function exposedSeconds(seed: number, limit: number, order: Order): number {
  const coming = makeWork(new Chance(seed), order).sort((a, b) => a.comesAt - b.comesAt);
  const active: Work[] = [];
  let now = 0;
  let exposed = 0;
  while (coming.length > 0 || active.length > 0) {
    while (coming[0] !== undefined && coming[0].comesAt <= now) active.push(...coming.splice(0, 1));
    admit(active, limit, now);
    const running = active.filter(isCopying);
    const step = Math.min(
      ...running.map(({ leftSeconds }) => leftSeconds),
      (coming[0]?.comesAt ?? Number.POSITIVE_INFINITY) - now,
    );
    for (const work of running) work.leftSeconds -= step;
    now += step;
    for (const done of active.filter((work) => isCopying(work) && work.leftSeconds <= 0)) {
      if (done.risky) exposed += now - done.comesAt;
      active.splice(active.indexOf(done), 1);
    }
  }
  return exposed;
}

function isCopying({ rebuild }: Work): boolean {
  return rebuild.state === 'running' && rebuild.preemptedAt === undefined;
}

/** Twice: engines that are told to stand still leave their places to those that wait for them. */
function admit(active: Work[], limit: number, now: number): void {
  const at = new Date(now * 1000);
  for (let round = 0; round < 2; round += 1) {
    const rebuilds = active.map(({ rebuild }) => rebuild);
    const plan = planAdmissions(
      {
        clusterId: asId<ClusterId>('cluster'),
        settings: settingsFor(limit),
        nodes: NODE_ROWS,
        queued: rebuilds.filter(({ state }) => state === 'queued'),
        running: rebuilds.filter(({ state }) => state === 'running'),
        ending: [],
        blocked: [],
        quotas: [],
        rebuilt: [],
        tasks: { admitted: [], waiting: [], candidates: [] },
      },
      at,
    );
    const begun = new Set(plan.rebuilds.map(({ rebuildId }) => rebuildId));
    const held = new Set(plan.preempted);
    for (const work of active) {
      const { rebuild } = work;
      if (begun.has(rebuild.id))
        work.rebuild = { ...rebuild, state: 'running', preemptedAt: undefined, tuned: undefined };
      if (held.has(rebuild.id)) {
        work.rebuild = {
          ...rebuild,
          preemptedAt: at,
          tuned: { paused: true, bandwidthBytesPerSecond: undefined },
        };
      }
    }
  }
}

const NODE_ROWS = Array.from({ length: NODES }, (_, index) => aNode(`n${index}`));

function settingsFor(limit: number) {
  return effectiveSettings({
    'concurrent-replica-rebuild-per-node-limit': limit,
    'concurrent-rebuild-source-per-node-limit': limit,
  });
}

function makeWork(chance: Chance, order: Order): Work[] {
  return Array.from({ length: VOLUMES }, (_, index): Work => {
    const target = chance.below(NODES);
    const source = (target + 1 + chance.below(NODES - 1)) % NODES;
    const sizeBytes = (10 + chance.below(491)) * GIB;
    const risky = chance.is(SHARE_ON_LAST_COPY);
    const comesAt = chance.below(WITHIN_SECONDS);
    const rebuild = aRebuild({
      id: asId(testId(1_000 + index)),
      volumeId: asId(testId(5_000 + index)),
      targetNodeId: asId<NodeId>(`n${target}`),
      sourceNodeIds: [asId<NodeId>(`n${source}`)],
      sizeBytes,
      queuedAt: new Date(comesAt * 1000),
      // Who comes first is all that counts where the risk is not looked at.
      healthyCopies: risky && order === 'riskiest first' ? 1 : 2,
    });
    return { rebuild, risky, comesAt, leftSeconds: sizeBytes / BYTES_PER_SECOND };
  });
}

function mean(seeds: number, measure: (seed: number) => number): number {
  const values = Array.from({ length: seeds }, (_, seed) => measure(seed + 1));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
