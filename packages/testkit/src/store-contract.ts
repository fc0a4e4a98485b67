/**
 * What every implementation of the `Store` port promises, as a suite of tests. Postgres runs it, and so does the
 * in-memory store of the simulator: what holds in a simulated run then holds in production.
 *
 *   describe('the Postgres store', () => storeContract(() => makeMyStore()));
 */

import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { Store } from '@holdfast/control/ports/store.js';
import type { SettingName } from '@holdfast/core/settings/definitions.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import { describe } from '@jest/globals';
import type { TestTenant } from './builders.js';
import { bookingContract } from './store-contract-booking.js';
import { commitContract } from './store-contract-commits.js';
import { heartbeatContract } from './store-contract-heartbeats.js';
import { listContract } from './store-contract-lists.js';

export type StoreUnderTest = {
  store: Store;
  /** An organization with a project and a cluster, and nothing in them. */
  tenant: TestTenant;
  /** Everything in the outbox, which is emptied. */
  takeWakeUps(): Promise<WakeUp[]>;
  /** Changes a cluster setting as an administrator does. */
  setSetting(name: SettingName, value: SettingValue): Promise<void>;
  stop(): Promise<void>;
};

/** Makes a store that nobody else uses, for one test. */
export type MakeStore = () => Promise<StoreUnderTest>;

export function storeContract(makeStore: MakeStore): void {
  describe('commits', () => commitContract(makeStore));
  describe('booking of space', () => bookingContract(makeStore));
  describe('heartbeats', () => heartbeatContract(makeStore));
  describe('lists', () => listContract(makeStore));
}
