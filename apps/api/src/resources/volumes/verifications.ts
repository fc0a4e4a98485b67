/**
 * Verifications that callers wait for. The agents read on the worker's request; a waiting caller holds no connection and no thread, and
 * only some callers of one organization wait: for the others the answer is that theirs runs.
 */
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrganizationId } from '@holdfast/core/model/ids.js';
import type { VolumeVerification } from '@holdfast/core/model/volume.js';
import { countVerifications } from '@holdfast/database/queries/volumes.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { LiveChanges } from '../events/live-changes.js';
import { readVolume, type VolumeKey, volumeNotFound } from './read-volume.js';

/** Maximum wait of a caller of `verify`; for larger volumes it repeats the request. */
const WAIT_MS = 60_000;
/** A notification is lost when its connection is. */
const POLL_MS = 2_000;
/** Callers of one organization that wait in this process. */
const WAITING_MAX = 32;
/** Concurrent verifications of one organization in a cluster: each competes with users' I/O for whole disks. */
const RUNNING_MAX = 32;

@Injectable()
export class Verifications {
  private readonly waiting = new Map<OrganizationId, number>();

  constructor(private readonly changes: LiveChanges) {}

  /**
   * Starts a verification, or finds the running one, and waits for its result up to a limit; then it is returned as running.
   *
   * @throws StorageFault `request.rate_limited` when the organization has reached its limit in the cluster
   */
  async verify(tenant: Tenant, key: VolumeKey): Promise<VolumeVerification> {
    const before = await this.read(tenant, key);
    if (before?.state !== 'running') await assertRoom(tenant, key);
    await requestVerify(tenant.volumePorts, { volumeId: key.volumeId });
    const { organizationId } = tenant.actor;
    const waiting = this.waiting.get(organizationId) ?? 0;
    if (waiting >= WAITING_MAX) return this.readStarted(tenant, key);
    this.waiting.set(organizationId, waiting + 1);
    try {
      return await this.untilEnded(tenant, key);
    } finally {
      const left = (this.waiting.get(organizationId) ?? 1) - 1;
      if (left === 0) this.waiting.delete(organizationId);
      else this.waiting.set(organizationId, left);
    }
  }

  private async untilEnded(tenant: Tenant, key: VolumeKey): Promise<VolumeVerification> {
    const { gone } = tenant;
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      // Started before the read, so that a change in between is not missed.
      const change = this.nextChange(key, gone);
      try {
        const verification = await this.readStarted(tenant, key);
        if (verification.state !== 'running' || Date.now() >= deadline || gone.aborted) return verification;
        await change.happened;
      } finally {
        change.stop();
      }
    }
  }

  /** Ends when the volume has changed, when the caller has disconnected, or after the poll interval. */
  private nextChange(key: VolumeKey, gone: AbortSignal): { happened: Promise<void>; stop: () => void } {
    let stop = () => {};
    const happened = new Promise<void>((resolve) => {
      const end = () => resolve();
      const unsubscribe = this.changes.subscribe(key.clusterId, (change) => {
        if (!change.events && change.subject.id === key.volumeId) end();
      });
      const timer = setTimeout(end, POLL_MS);
      gone.addEventListener('abort', end, { once: true });
      stop = () => {
        unsubscribe();
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
      };
    });
    return { happened, stop };
  }

  private async readStarted(tenant: Tenant, key: VolumeKey): Promise<VolumeVerification> {
    const verification = await this.read(tenant, key);
    if (verification === undefined) throw volumeNotFound(key.volumeId);
    return verification;
  }

  private async read(tenant: Tenant, key: VolumeKey): Promise<VolumeVerification | undefined> {
    return (await readVolume(tenant, key)).volume.verification;
  }
}

/** Concurrent requests may pass this together, as many as the organization has connections to the database. */
async function assertRoom(tenant: Tenant, { clusterId }: VolumeKey): Promise<void> {
  const running = await tenant.read((sql) => countVerifications(sql, clusterId));
  if (running < RUNNING_MAX) return;
  throw new StorageFault('request.rate_limited', {
    publicMessage: `the copies of ${running} volumes are being compared in this cluster; no more may be at once`,
    cures: ['wait until one of them is done', 'cancel one of them'],
    retryAfterSeconds: 10,
  });
}
