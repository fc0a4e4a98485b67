/** A connection to the data of one copy or of one of its layers: what engines and rebuilds use of an NBD client. */
import type { Time } from '../time.js';
import { NbdClient } from './client.js';
import type { NbdExport } from './export.js';

export type DataAddress = { host: string; port: number; exportName: string };

export interface DataLink extends NbdExport {
  readonly closed: boolean;
  /** When the latest of the requests that were answered had been sent; at first, when the connection was begun. */
  readonly heardAtMs: number;
  /** Asks something that is answered from memory. */
  ping(): Promise<void>;
  /** For how long the oldest request has been stuck; 0 when none is in flight. */
  silentForMs(nowMs: number): number;
  /** Starts the count of silence again: it was this process that could not hear. */
  excuseSilence(): void;
  /** Called once when the connection is gone, whoever ended it; at once when it already is. */
  onClose(handler: (reason: Error) => void): void;
  /** Says goodbye and ends the connection; requests in flight fail. */
  close(): void;
  /** Ends it without a word; requests in flight fail with the reason. */
  destroy(reason: Error): void;
}

/** Makes such a connection. Rejects when there is none within the time. */
export type ConnectData = (address: DataAddress, timeoutMs: number) => Promise<DataLink>;

export const connectByNbd: ConnectData = (address, timeoutMs) => NbdClient.connect(address, timeoutMs);

/** By another clock than the system's. */
export function connectByNbdWith(time: Time): ConnectData {
  return (address, timeoutMs) => NbdClient.connect(address, timeoutMs, time);
}
