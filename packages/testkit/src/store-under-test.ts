import type { QuotaLimits } from '@holdfast/access/quota.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import type { Store } from '@holdfast/control/ports/store.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { SettingValue } from '@holdfast/core/settings/effective.js';
import type { TestTenant } from './builders.js';

export type StoreUnderTest = {
  store: Store;
  /** An organization with a project and a cluster, and nothing in them. */
  tenant: TestTenant;
  /** Everything in the outbox, which is emptied. */
  takeWakeUps(): Promise<WakeUp[]>;
  /** All events by their types and those of their causes, the oldest first. */
  events(): Promise<{ type: string; causeType: string | undefined }[]>;
  /** Changes a cluster setting as an administrator does. */
  setSetting(name: SettingName, value: SettingValue): Promise<void>;
  /** Sets limits of the tenant's organization or project. */
  setQuota(of: 'organization' | 'project', limits: QuotaLimits): Promise<void>;
  /** Proof of a node that it has the copy with this key. */
  proofOf(key: string, nodeId: string): string;
  stop(): Promise<void>;
};

/** Makes a store for one test alone. */
export type MakeStore = () => Promise<StoreUnderTest>;
