// Follows one rebuild from its start, by the reports of the engine's agent.
import crypto from 'node:crypto';
import type { RebuildOptions, RebuildReport, ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import type { RebuildPhase } from '@holdfast/core/model/rebuild.js';
import { type BenchStack, type BenchVolume, secretAt } from './stack.js';

const LOOK_MS = 5;

export type FollowOptions = {
  readonly source: ReplicaAddress;
  readonly options: RebuildOptions;
};

export type FollowedRebuild = {
  readonly last: RebuildReport;
  readonly seconds: number;
  readonly phaseSeconds: ReadonlyMap<RebuildPhase, number>;
};

export async function follow(
  stack: BenchStack,
  { volumeId, epoch }: BenchVolume,
  target: ReplicaAddress,
  { source, options }: FollowOptions,
): Promise<FollowedRebuild> {
  const rebuildId = crypto.randomUUID();
  const startedMs = performance.now();
  await stack.command({ volumeId, epoch }, 'start-rebuild', {
    rebuildId,
    target: { ...target, secret: secretAt(target, epoch) },
    sourceReplicaIds: [source.replicaId],
    options,
  });
  const phaseSeconds = new Map<RebuildPhase, number>();
  let phase: RebuildPhase = 'preparing';
  let phaseMs = startedMs;
  for (;;) {
    const report = reportOf(stack, volumeId, rebuildId);
    if (report !== undefined && (report.phase !== phase || report.state !== 'running')) {
      const nowMs = performance.now();
      phaseSeconds.set(phase, (nowMs - phaseMs) / 1000);
      phase = report.phase;
      phaseMs = nowMs;
      if (report.state === 'failed') throw new Error(`the rebuild failed: ${JSON.stringify(report.error)}`);
      if (report.state === 'succeeded') {
        return { last: report, seconds: (nowMs - startedMs) / 1000, phaseSeconds };
      }
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function reportOf(stack: BenchStack, volumeId: string, rebuildId: string): RebuildReport | undefined {
  const engine = stack.beat(0).engines.find((one) => one.volumeId === volumeId);
  return engine?.rebuilds.find((one) => one.rebuildId === rebuildId);
}
