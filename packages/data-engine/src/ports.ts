/** What engines and copies need of the world outside beside their control channels. */
import { type ConnectData, connectByNbdWith } from './nbd/data-link.js';
import { type OpenDisk, openDiskStore } from './replica/open-disk-store.js';
import { SYSTEM_TIME, type Time } from './time.js';

export type Ports = { readonly time: Time; readonly connectData: ConnectData; readonly openDisk: OpenDisk };

/** Those that are given, and the system's for the others. */
export function portsOf({ time = SYSTEM_TIME, connectData, openDisk }: Partial<Ports> = {}): Ports {
  return {
    time,
    connectData: connectData ?? connectByNbdWith(time),
    openDisk: openDisk ?? openDiskStore,
  };
}
