/**
 * The engines of this node: one for each volume that is attached here.
 *
 * An engine that stopped, or whose process died, stays in the reports as `stopped` until the control plane ends the
 * attachment: only the control plane decides what comes next.
 */
import type { EngineReport, StartEngine, StartEngineReply } from '@holdfast/core/model/agent-protocol.js';
import { ENGINE_COMMANDS, type EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { ExportInfo } from '@holdfast/data-engine/nbd/handshake-frames.js';
import type { Host, HostPool } from './hosts/host-pool.js';
import type { AgentMethods, EngineHostMethods, ReplicaHostMethods } from './hosts/host-protocol.js';
import { sameSecret } from './secrets.js';
import { within } from './within.js';

export type EngineHost = Host<EngineHostMethods, AgentMethods>;
type ReplicaHost = Host<ReplicaHostMethods, AgentMethods>;

/** Time without a message from a host after which its engines are abandoned: longer than a loaded machine keeps a process waiting. */
const GIVEN_UP_MS = 15_000;
/** Longest wait for an older engine to stop. A healthy one stops at once. */
const FENCE_MS_MAX = 1_000;

type Attachment = {
  spec: StartEngine;
  host: EngineHost;
  report: EngineReport;
  /** Ends with the first start; a repeated start waits for the same promise. */
  started: Promise<void>;
};

export type EnginesOptions = {
  /** Hosts of engines whose volumes have no copy here. */
  pool: HostPool<EngineHostMethods, AgentMethods>;
  /** Hosts of copies, which also take engines. */
  replicaPool: HostPool<ReplicaHostMethods, AgentMethods>;
  /** The host of the copy among these that is on this node, if one is and can be opened. */
  hostOfCopy: (replicaIds: readonly string[]) => Promise<ReplicaHost | undefined>;
  /** Address at which users reach the engines. */
  endpoint: { host: string; port: number; tls: boolean };
  changed: () => void;
};

export class Engines {
  private readonly attachments = new Map<string, Attachment>();

  constructor(private readonly options: EnginesOptions) {}

  /**
   * Starts the engine, or finds it started.
   *
   * @throws StorageFault `engine.stale_epoch` when a newer attachment is here, or the fault of an engine that can't
   *   start
   */
  async start(volumeId: VolumeId, spec: StartEngine): Promise<StartEngineReply> {
    // Looked up first: the decision below then holds at the moment of the effect.
    const isHere = this.attachments.get(volumeId)?.spec.epoch === spec.epoch;
    const beside = isHere
      ? undefined
      : await this.options.hostOfCopy(spec.replicas.map(({ replicaId }) => replicaId));
    const existing = this.attachments.get(volumeId);
    if (existing !== undefined && isReplacedBy(spec, existing.spec)) throw staleEpoch(existing.spec);
    if (existing !== undefined && existing.spec.epoch < spec.epoch) await this.fence(volumeId, existing);
    const attachment = this.attachments.get(volumeId) ?? this.attach(volumeId, spec, beside);
    await attachment.started;
    const exportName = exportNameOf(volumeId, attachment.spec);
    return { endpoint: { ...this.options.endpoint, exportName }, report: attachment.report };
  }

  /** Flushes and stops the engine. A stop for an older epoch than the running one does nothing. */
  async stop(volumeId: string, epoch: number): Promise<void> {
    const attachment = this.attachments.get(volumeId);
    if (attachment === undefined || attachment.spec.epoch > epoch) return;
    // There is nothing to stop in a host that has died; in a silent one the engine has been given up already.
    const isGivenUp = attachment.report.state === 'stopped' && attachment.host.silentMs > 0;
    if (!isGivenUp) await attachment.host.peer.call('stop-engine', { volumeId }).catch(() => undefined);
    this.forget(volumeId, attachment);
  }

  /**
   * Passes a command on to the engine of the attachment that it names.
   *
   * @param ask checked by the command's schema
   * @throws StorageFault `engine.not_found`, `engine.stale_epoch`, or the engine's own
   */
  async command(volumeId: string, name: EngineCommandName, ask: { epoch: number }): Promise<unknown> {
    try {
      const attachment = this.require(volumeId, ask.epoch);
      const { reply, sizeBytes } = await attachment.host.peer.call('engine-command', { volumeId, name, ask });
      if (sizeBytes > attachment.spec.sizeBytes) attachment.spec = { ...attachment.spec, sizeBytes };
      return reply;
    } catch (error) {
      if (ENGINE_COMMANDS[name].withoutEngine === 'done' && isGone(error)) return null;
      throw error;
    }
  }

  reports(): EngineReport[] {
    return [...this.attachments.values()].map(({ report }) => report);
  }

  noteReport(report: EngineReport): void {
    const attachment = this.attachments.get(report.volumeId);
    if (attachment === undefined || attachment.spec.epoch !== report.epoch) return;
    attachment.report = report;
    this.options.changed();
  }

  /** Fetches the figures that change without an event. For a host that does not answer, the last report stays. */
  async refresh(): Promise<void> {
    await Promise.all(
      [...this.attachments].map(async ([volumeId, attachment]) => {
        if (attachment.report.state === 'stopped') return;
        const { host } = attachment;
        const report = await host
          .ask(`report ${volumeId}`, () => host.peer.call('engine-report', { volumeId }))
          .catch(() => undefined);
        if (report !== undefined) attachment.report = report;
        else if (host.silentMs > GIVEN_UP_MS) this.giveUp(volumeId, attachment);
      }),
    );
  }

  /**
   * Reports the engine as stopped, because its users wait in vain and the control plane can start another one
   * elsewhere. Should its process go on, it is fenced: by the call below, and by copies that a newer engine has opened.
   */
  private giveUp(volumeId: string, attachment: Attachment): void {
    const reason = 'engine.not_found: its process does not answer';
    attachment.report = { ...attachment.report, state: 'stopped', reason };
    attachment.host.peer.call('fence-engine', { volumeId }).catch(() => undefined);
  }

  hostLost(residents: ReadonlySet<string>, reason: string): void {
    for (const volumeId of residents) {
      const attachment = this.attachments.get(volumeId);
      if (attachment === undefined) continue;
      attachment.report = { ...attachment.report, state: 'stopped', reason: `engine.not_found: ${reason}` };
    }
    this.options.changed();
  }

  /** The volume that an export name opens, if the secret in it is right. */
  find(exportName: string): { volumeId: string; info: ExportInfo; host: EngineHost } | undefined {
    for (const [volumeId, { spec, host, report }] of this.attachments) {
      if (report.state === 'stopped' || !sameSecret(exportNameOf(volumeId, spec), exportName)) continue;
      return { volumeId, host, info: exportInfo(spec) };
    }
    return undefined;
  }

  async stopAll(): Promise<void> {
    const hosts: readonly EngineHost[] = [...this.options.pool.all, ...this.options.replicaPool.all];
    await Promise.all(hosts.map(({ peer }) => peer.call('stop-engines', null).catch(() => undefined)));
  }

  /** @param beside the host of a copy of the volume, where the engine runs if there is room */
  private attach(volumeId: VolumeId, spec: StartEngine, beside: ReplicaHost | undefined): Attachment {
    const isBeside = beside !== undefined && this.options.replicaPool.admitGuest(beside, volumeId);
    const host: EngineHost = isBeside ? beside : this.options.pool.assignHost(volumeId);
    const started = host.peer.call('start-engine', { volumeId, engine: spec });
    const attachment: Attachment = {
      spec,
      host,
      report: startingReport(volumeId, spec),
      started: started.then(
        (report) => {
          attachment.report = report;
          this.options.changed();
        },
        (error: unknown) => {
          // A start that failed may be tried again, at this epoch or a later one.
          this.forget(volumeId, attachment);
          throw error;
        },
      ),
    };
    // Every caller of `start` sees its failure; this handler keeps it from ending the process when all callers are
    // gone.
    attachment.started.catch(() => undefined);
    this.attachments.set(volumeId, attachment);
    return attachment;
  }

  private async fence(volumeId: string, attachment: Attachment): Promise<void> {
    const fencing = attachment.host.peer.call('fence-engine', { volumeId }).catch(() => null);
    // A process that is stopped is not waited for: the copies refuse its engine too.
    await within(FENCE_MS_MAX, fencing, () => null);
    this.forget(volumeId, attachment);
  }

  private forget(volumeId: string, attachment: Attachment): void {
    if (this.attachments.get(volumeId) !== attachment) return;
    this.attachments.delete(volumeId);
    this.options.pool.leave(volumeId);
    attachment.host.guests.delete(volumeId);
    this.options.changed();
  }

  private require(volumeId: string, epoch: number): Attachment {
    const attachment = this.attachments.get(volumeId);
    if (attachment === undefined) {
      throw new StorageFault('engine.not_found', { publicMessage: 'no engine of this volume runs here' });
    }
    if (attachment.spec.epoch !== epoch) throw staleEpoch(attachment.spec);
    return attachment;
  }
}

function exportNameOf(volumeId: string, spec: StartEngine): string {
  return `${spec.volumeName}.${volumeId}.${spec.attachmentSecret}`;
}

function exportInfo({ sizeBytes }: StartEngine): ExportInfo {
  return { sizeBytes, readOnly: false, blockSizeMinBytes: 1 };
}

/**
 * Report of an engine that has not sent its own yet. It names no replica, as the engine's own does until its copies are open: which
 * of them are current is not known before, and one that turns out stale must not count as healthy meanwhile.
 */
function startingReport(volumeId: VolumeId, { epoch, grantId, record }: StartEngine): EngineReport {
  return {
    volumeId,
    epoch,
    grantId,
    state: 'waiting-record',
    reason: 'starting',
    record,
    replicas: [],
    writtenBytes: 0,
    rebuilds: [],
  };
}

/** True where a newer attachment, or another grant of the same epoch, is here. */
function isReplacedBy(spec: StartEngine, existing: StartEngine): boolean {
  if (existing.epoch !== spec.epoch) return existing.epoch > spec.epoch;
  return spec.grantId !== undefined && existing.grantId !== undefined && spec.grantId !== existing.grantId;
}

function staleEpoch({ epoch }: StartEngine): StorageFault {
  return new StorageFault('engine.stale_epoch', {
    publicMessage: 'another attachment of this volume is here',
    context: { newest: epoch },
  });
}

/** No engine runs here, or its process has ended. */
function isGone(error: unknown): boolean {
  return isFault(error, 'engine.not_found') || isFault(error, 'agent.unreachable');
}
