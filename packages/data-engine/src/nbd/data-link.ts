/** Data connection to a copy or one of its layers: the part of an NBD client that engines and rebuilds use. */
import type { Time } from '../base/time.js';
import { NbdClient } from './client.js';
import type { NbdPeer } from './client-tls.js';
import type { NbdExport, NbdWrite, PlacedRead, WriteListener } from './export.js';

export type DataAddress = NbdPeer & { port: number; exportName: string };

export interface DataLink extends NbdExport {
  /** The copy is in this process: a request costs no message. */
  readonly isHere?: boolean;
  readonly closed: boolean;
  /**
   * Fills the buffers, without a copy in between where many bytes come over a plain connection. Until all has ended, well or not, they
   * are the connection's. Reads in order, of one window and in whole blocks cost the least.
   */
  readEachInto(reads: readonly PlacedRead[]): Promise<void>;
  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void;
  /** Send time of the latest answered request; at first, the time of connecting. */
  readonly heardAtMs: number;
  /** Sends a request that is answered from memory. */
  ping(): Promise<void>;
  /** How long the oldest request has been stuck, in milliseconds; 0 if none is in flight. */
  silentForMs(nowMs: number): number;
  /** Restarts the count of silence, because this process itself was paused. */
  excuseSilence(): void;
  /** Calls the handler once when the connection is closed, by either side; at once if it already is. */
  onClose(handler: (reason: Error) => void): void;
  /** Disconnects in order; requests in flight fail. */
  close(): void;
  /** Closes at once; requests in flight fail with the reason. */
  destroy(reason: Error): void;
}

/** Opens a data connection. Rejects if there is none within the time. */
export type ConnectData = (address: DataAddress, timeoutMs: number) => Promise<DataLink>;

export const connectByNbd: ConnectData = (address, timeoutMs) => NbdClient.connect(address, timeoutMs);

/** With an injected clock. */
export function connectByNbdWith(time: Time): ConnectData {
  return (address, timeoutMs) => NbdClient.connect(address, timeoutMs, time);
}
