import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import { type ConnectData, connectByNbd, type DataLink } from '../nbd/data-link.js';
import type { Answer, Ask, ConnectControl, HeadReply, ReplicaControl } from '../replica/commands.js';
import { formatExportName } from '../replica/export-names.js';

/** An engine's hold on one copy: its control channel, its data connection, and what it may be used for. */
export class ReplicaLink {
  mode: ReplicaMode;
  /** Why it is ERR, or what it suffers from while it can't be dropped; empty otherwise. */
  reason = '';
  /**
   * The copy's head as this engine knows it, which nobody else changes: what changes the layers names it, so that a
   * command that is late, or delivered twice, finds another one. `undefined` where the copy does not say.
   */
  headId: string | undefined;
  private isHeadDoubtful = false;
  /** When the reason was noted, of one that is not ERR. */
  troubledAtMs = 0;
  /** Set while its connection is lost and it is being opened again. */
  lost: { readonly sinceMs: number; readonly ended: Promise<void> } | undefined;

  /** Every command names the lease that the copy was opened under. */
  control: ReplicaControl;

  constructor(
    readonly address: ReplicaAddress,
    private readonly channel: ReplicaControl,
    /** Another one after the copy was opened again. */
    public client: DataLink,
    /** What the copy said of itself when it was opened. */
    readonly opened: Answer<'open'>,
    mode: ReplicaMode,
    private readonly grantId: string | undefined = undefined,
  ) {
    this.mode = mode;
    this.headId = opened.headId;
    this.control = underLease(channel, opened.lease);
  }

  /** Opens the copy again at the same epoch: what is still on its way from before is refused from then on. */
  async openAgain(epoch: number, connect: (exportName: string) => Promise<DataLink>): Promise<Opened> {
    openings += 1;
    const ask = { epoch, afresh: true, grantId: this.grantId, count: openings };
    const { opened, client } = await openBoth(this.address, this.channel, ask, connect);
    this.control = underLease(this.channel, opened.lease);
    this.headId = opened.headId;
    return { opened, client };
  }

  get replicaId(): string {
    return this.address.replicaId;
  }

  /** Does what changes the copy's layers, and keeps what its head is then. */
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

  /** A change that was not answered may have been done, or may be done yet: the copy is asked, and nothing assumed. */
  private async askHead(epoch: number): Promise<void> {
    const { head } = await this.control.command('chain', { epoch });
    this.headId = head.id;
  }
}

type Opened = { opened: Answer<'open'>; client: DataLink };

type LayerChange = 'snapshot' | 'unfreeze' | 'revert' | 'prepare';
type LayerAsk<Name extends LayerChange> = Omit<Ask<Name>, 'expectedHeadId' | 'lease'>;

/** Has every command name the lease that the copy was opened under: what outlives the opening is refused. */
function underLease(control: ReplicaControl, lease: number | undefined): ReplicaControl {
  return { command: (name, ask) => control.command(name, lease === undefined ? ask : { ...ask, lease }) };
}

/** Of this process, where an epoch's engine lives from beginning to end: a later opening of a copy has a higher number. */
let openings = 0;

/** Fences a copy at the epoch and connects to its data. */
export async function openLink(
  address: ReplicaAddress,
  epoch: number,
  mode: ReplicaMode,
  connectControl: ConnectControl,
  timeoutMs: number,
  connectData: ConnectData = connectByNbd,
  grantId?: string,
): Promise<ReplicaLink> {
  const control = connectControl(address);
  // A copy that is to be rebuilt was perhaps in use a moment ago, and may not have heard the end of that yet.
  openings += 1;
  const ask = { epoch, afresh: mode === 'WO', grantId, count: openings };
  const { opened, client } = await openBoth(address, control, ask, (exportName) =>
    connectData({ host: address.nbdHost, port: address.nbdPort, exportName }, timeoutMs),
  );
  return new ReplicaLink(address, control, client, opened, mode, grantId);
}

/**
 * Connects again to a copy at the same epoch. What was sent on its older connections and is still on its way is refused
 * from then on, so that it can't go over what is sent again.
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
    connectData({ host: address.nbdHost, port: address.nbdPort, exportName }, timeoutMs),
  );
  if (opened.kept || (opened.life !== undefined && opened.life === before.life)) return client;
  client.close();
  throw new StorageFault('engine.no_replica', {
    publicMessage: 'the process of the last copy has died with what no flush had covered',
  });
}

/**
 * Opens the copy and connects to its data, in one life of its process: another one that began in between would have less than
 * what the first one said of itself.
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
    // The very same opening again, which ends nothing.
    const { life } = await control.command('open', ask);
    if (life === opened.life) return { opened, client };
  } catch (error) {
    client.close();
    throw error;
  }
  client.close();
  throw new StorageFault('agent.unreachable', { publicMessage: 'the process of the copy was just replaced' });
}
