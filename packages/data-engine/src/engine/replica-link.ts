import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import type { ConnectData, DataAddress, DataLink } from '../nbd/data-link.js';
import type { Answer, Ask, ConnectControl, HeadReply, ReplicaControl } from '../protocol/commands.js';
import { formatExportName } from '../protocol/export-names.js';

/** An engine's handle of one copy: its control channel, its data connection, and its mode. */
export class ReplicaLink {
  mode: ReplicaMode;
  /** Why the mode is ERR, or the last error of a copy that can't be dropped; otherwise empty. */
  reason = '';
  /**
   * The copy's head as this engine knows it; only this engine changes it. Commands that change layers name it as a
   * precondition, so that a late or duplicated one is refused. `undefined` if the copy does not report it.
   */
  headId: string | undefined;
  private isHeadDoubtful = false;
  /** When the reason was noted, for a copy whose mode is not ERR. */
  troubledAtMs = 0;
  /** Set while the connection is lost and being reopened. */
  lost: { readonly sinceMs: number; readonly ended: Promise<void> } | undefined;

  /** The control channel; every command on it names the lease that the copy was opened under. */
  control: ReplicaControl;

  constructor(
    readonly address: ReplicaAddress,
    private readonly channel: ReplicaControl,
    /** The data connection; replaced when the copy is reopened. */
    public client: DataLink,
    /** The copy's answer to its opening. */
    readonly opened: Answer<'open'>,
    mode: ReplicaMode,
    private readonly grantId: string | undefined = undefined,
  ) {
    this.mode = mode;
    this.headId = opened.headId;
    this.control = underLease(channel, opened.lease);
  }

  /**
   * Reopens the copy at the same epoch, under a new lease: requests of the old one that are still on their way are
   * refused.
   */
  async openAgain(epoch: number, connect: (exportName: string) => Promise<DataLink>): Promise<Opened> {
    openings += 1;
    const ask = { epoch, afresh: true, grantId: this.grantId, count: openings };
    const { opened, client } = await openBoth(this.address, this.channel, ask, connect);
    this.control = underLease(this.channel, opened.lease);
    this.headId = opened.headId;
    return { opened, client };
  }

  /** Repeats the opening, which takes no lease from this engine. @throws StorageFault `engine.stale_epoch` when a newer engine has opened it; or it can't be asked */
  async requireNotFenced(epoch: number): Promise<void> {
    await this.channel.command('open', { epoch, grantId: this.grantId });
  }

  get replicaId(): ReplicaId {
    return this.address.replicaId;
  }

  /** Runs a command that changes the copy's layers, and notes the head that it answers with. */
  async change<Name extends LayerChange>(name: Name, ask: LayerAsk<Name>): Promise<void> {
    if (this.isHeadDoubtful) await this.askHead(ask.epoch);
    const { headId: expectedHeadId } = this;
    // The cast: `expectedHeadId` is what the type left out of the ask.
    const whole = { ...ask, expectedHeadId } as unknown as Ask<Name>;
    this.isHeadDoubtful = true;
    // The cast: all of these answer with the head.
    const reply = (await this.control.command(name, whole)) as HeadReply;
    this.headId = reply?.headId;
    this.isHeadDoubtful = false;
  }

  /**
   * A command that was not answered may have run, or may still run: asks the copy for its head instead of assuming
   * either.
   */
  private async askHead(epoch: number): Promise<void> {
    const { head } = await this.control.command('chain', { epoch });
    this.headId = head.id;
  }
}

function dataAddress({ nbdHost, nbdPort, nodeId }: ReplicaAddress, exportName: string): DataAddress {
  return { host: nbdHost, port: nbdPort, nodeId, exportName };
}

type Opened = { opened: Answer<'open'>; client: DataLink };

type LayerChange = 'snapshot' | 'unfreeze' | 'revert' | 'prepare';
type LayerAsk<Name extends LayerChange> = Omit<Ask<Name>, 'expectedHeadId' | 'lease'>;

/**
 * Adds the lease that the copy was opened under to every command, so that a command which outlives the opening is
 * refused.
 */
function underLease(control: ReplicaControl, lease: number | undefined): ReplicaControl {
  return { command: (name, ask) => control.command(name, lease === undefined ? ask : { ...ask, lease }) };
}

/**
 * Lease counter of this process, which runs an epoch's engine from start to end: a later opening has a higher number.
 */
let openings = 0;

/** How an engine opens a copy: as what, in whose term, and by which connections. */
export type LinkOpening = {
  readonly epoch: number;
  readonly grantId?: string | undefined;
  readonly mode: ReplicaMode;
  readonly connectControl: ConnectControl;
  readonly connectData: ConnectData;
  /** Limit of connecting to the data. */
  readonly timeoutMs: number;
};

/** Fences a copy at the epoch and connects to its data. */
export async function openLink(address: ReplicaAddress, opening: LinkOpening): Promise<ReplicaLink> {
  const { epoch, grantId, mode, connectControl, connectData, timeoutMs } = opening;
  const control = connectControl(address);
  // Always a new lease: a copy that is to be rebuilt may have been in use a moment ago, with old requests still on
  // their way.
  openings += 1;
  const ask = { epoch, afresh: mode === 'WO', grantId, count: openings };
  const { opened, client } = await openBoth(address, control, ask, (exportName) =>
    connectData(dataAddress(address, exportName), timeoutMs),
  );
  return new ReplicaLink(address, control, client, opened, mode, grantId);
}

/**
 * Reopens a copy at the same epoch. Requests that are still on their way on its older connections are refused from
 * then on, so that they can't overwrite what is sent again.
 *
 * @throws StorageFault `engine.no_replica` when the copy has lost what was acknowledged
 */
export async function reopenLink(
  link: ReplicaLink,
  epoch: number,
  timeoutMs: number,
  connectData: ConnectData,
): Promise<DataLink> {
  const { address, opened: before } = link;
  const { opened, client } = await link.openAgain(epoch, (exportName) =>
    connectData(dataAddress(address, exportName), timeoutMs),
  );
  if (opened.kept || (opened.life !== undefined && opened.life === before.life)) return client;
  client.close();
  throw new StorageFault('engine.no_replica', {
    publicMessage: 'the process of the last copy has died with what no flush had covered',
  });
}

/**
 * Opens the copy and connects to its data within one life of its replica process: a process that restarted in between
 * could have less than the first answer said.
 */
async function openBoth(
  { replicaId, secret }: ReplicaAddress,
  control: ReplicaControl,
  ask: Ask<'open'>,
  connect: (exportName: string) => Promise<DataLink>,
): Promise<Opened> {
  const { epoch } = ask;
  const opened = await control.command('open', ask);
  const client = await connect(formatExportName({ kind: 'replica', replicaId, epoch, secret }));
  try {
    // Idempotent: repeats the same opening, to learn whether the process is still the same.
    const { life } = await control.command('open', ask);
    if (life === opened.life) return { opened, client };
  } catch (error) {
    client.close();
    throw error;
  }
  client.close();
  throw new StorageFault('agent.unreachable', { publicMessage: 'the process of the copy was just replaced' });
}
