// Follows one rebuild from its start, by the reports of the engine's agent.
import crypto from 'node:crypto';

const LOOK_MS = 5;

/** @returns the last report, the seconds of the whole rebuild, and those of each phase */
export async function follow(stack, { volumeId, epoch }, target, { source, options, entered }) {
  const rebuildId = crypto.randomUUID();
  const startedMs = performance.now();
  await stack.call(0, 'POST', `/v1/engines/${volumeId}/rebuilds`, {
    rebuildId,
    epoch,
    target,
    sourceReplicaId: source.replicaId,
    options,
  });
  const phases = {};
  let phase = 'preparing';
  let phaseMs = startedMs;
  for (;;) {
    const report = reportOf(stack, volumeId, rebuildId);
    if (report !== undefined && (report.phase !== phase || report.state !== 'running')) {
      const nowMs = performance.now();
      phases[phase] = (nowMs - phaseMs) / 1000;
      phase = report.phase;
      phaseMs = nowMs;
      if (report.state === 'failed') throw new Error(`the rebuild failed: ${JSON.stringify(report.error)}`);
      if (report.state === 'succeeded') return { ...report, phases, seconds: (nowMs - startedMs) / 1000 };
      await entered?.(phase);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function reportOf(stack, volumeId, rebuildId) {
  const engine = stack.beat(0).engines.find((one) => one.volumeId === volumeId);
  return engine?.rebuilds.find((one) => one.rebuildId === rebuildId);
}
