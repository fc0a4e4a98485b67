/** Injected dependencies of engines and rebuilds, beside their control channels: a clock, and data connections. */

import { SYSTEM_TIME, type Time } from '../base/time.js';
import { type ConnectData, connectByNbdWith } from './data-link.js';

export type Ports = { readonly time: Time; readonly connectData: ConnectData };

/** The given ports, with the system's for those that are missing. */
export function portsOf({ time = SYSTEM_TIME, connectData }: Partial<Ports> = {}): Ports {
  return { time, connectData: connectData ?? connectByNbdWith(time) };
}
