/**
 * Promises of every implementation of the `Store` port, as a suite of tests. Postgres runs it, and so does the in-memory store of the
 * simulator: what holds in a simulated run then holds in production.
 *
 *   describe('the Postgres store', () => storeContract(() => makeMyStore()));
 */
import { describe } from '@jest/globals';
import { bookingContract } from './store-contract-booking.js';
import { commitContract } from './store-contract-commits.js';
import { diskStampsContract } from './store-contract-disk-stamps.js';
import { diskWishesContract } from './store-contract-disk-wishes.js';
import { drainContract } from './store-contract-drains.js';
import { dueContract } from './store-contract-due.js';
import { eventCauseContract } from './store-contract-event-causes.js';
import { heartbeatContract } from './store-contract-heartbeats.js';
import { labelContract } from './store-contract-labels.js';
import { listContract } from './store-contract-lists.js';
import { orphanContract } from './store-contract-orphans.js';
import { quotaContract } from './store-contract-quotas.js';
import { relocationContract } from './store-contract-relocations.js';
import { volumeContract } from './store-contract-volumes.js';
import type { MakeStore } from './store-under-test.js';

export type { MakeStore, StoreUnderTest } from './store-under-test.js';

export function storeContract(makeStore: MakeStore): void {
  describe('volumes', () => volumeContract(makeStore));
  describe('commits', () => commitContract(makeStore));
  describe('booking of space', () => bookingContract(makeStore));
  describe('stamps of disks', () => diskStampsContract(makeStore));
  describe('disks that users add and take off', () => diskWishesContract(makeStore));
  describe('causes of events', () => eventCauseContract(makeStore));
  describe('heartbeats', () => heartbeatContract(makeStore));
  describe('due volumes', () => dueContract(makeStore));
  describe('drains', () => drainContract(makeStore));
  describe('labels', () => labelContract(makeStore));
  describe('lists', () => listContract(makeStore));
  describe('orphans', () => orphanContract(makeStore));
  describe('quotas', () => quotaContract(makeStore));
  describe('relocations', () => relocationContract(makeStore));
}
