import type { ReplicaAddress } from '@holdfast/core/model/agent-protocol.js';
import type { ReplicaMode } from '@holdfast/core/model/replica.js';
import { NbdClient } from '../nbd/client.js';
import type { Answer, ConnectControl, ReplicaControl } from '../replica/commands.js';
import { formatExportName } from '../replica/export-names.js';

/** An engine's hold on one copy: its control channel, its data connection, and what it may be used for. */
export class ReplicaLink {
  mode: ReplicaMode;
  /** Why it is ERR; empty otherwise. */
  reason = '';

  constructor(
    readonly address: ReplicaAddress,
    readonly control: ReplicaControl,
    readonly client: NbdClient,
    /** What the copy said of itself when it was opened. */
    readonly opened: Answer<'open'>,
    mode: ReplicaMode,
  ) {
    this.mode = mode;
  }

  get replicaId(): string {
    return this.address.replicaId;
  }
}

/** Fences a copy at the epoch and connects to its data. */
export async function openLink(
  address: ReplicaAddress,
  epoch: number,
  mode: ReplicaMode,
  connectControl: ConnectControl,
  timeoutMs: number,
): Promise<ReplicaLink> {
  const control = connectControl(address);
  // A copy that is to be rebuilt was perhaps in use a moment ago, and may not have heard the end of that yet.
  const opened = await control.command('open', { epoch, afresh: mode === 'WO' });
  const { replicaId, secret } = address;
  const exportName = formatExportName({ kind: 'replica', replicaId, epoch, secret });
  const client = await NbdClient.connect(
    { host: address.nbdHost, port: address.nbdPort, exportName },
    timeoutMs,
  );
  return new ReplicaLink(address, control, client, opened, mode);
}
