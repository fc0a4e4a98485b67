/** What engines and rebuilds need of the world outside beside their control channels: a clock, and connections to data. */
import { type ConnectData, connectByNbdWith } from './nbd/data-link.js';
import { SYSTEM_TIME, type Time } from './time.js';

export type Ports = { readonly time: Time; readonly connectData: ConnectData };

/** Those that are given, and the system's for the others. */
export function portsOf({ time = SYSTEM_TIME, connectData }: Partial<Ports> = {}): Ports {
  return { time, connectData: connectData ?? connectByNbdWith(time) };
}
