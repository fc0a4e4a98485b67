/** Decides about opening and ending a node's maintenance window. A node that is away already may have one too. */
import type { NodeMaintenance, StorageNode } from '../model/node.js';
import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

/** A longer absence is no maintenance: the redundancy that is missing meanwhile has to be made elsewhere. */
export const MAINTENANCE_DAYS_MAX = 7;
const DAY_MS = 24 * 3600 * 1000;

type MaintenanceFacts = Pick<StorageNode, 'name' | 'maintenance'>;

/** @param wanted a window that begins at `now`, in place of the one that is open */
export function decideMaintenance(
  { name, maintenance }: MaintenanceFacts,
  wanted: NodeMaintenance,
  now: Date,
): Decision<'request.invalid'> {
  const lengthMs = wanted.until.getTime() - now.getTime();
  if (lengthMs <= 0) {
    return refuse('request.invalid', `the maintenance of node ${name} would end before it begins`, [
      'name a time in the future',
    ]);
  }
  if (lengthMs > MAINTENANCE_DAYS_MAX * DAY_MS) {
    return refuse(
      'request.invalid',
      `the maintenance of node ${name} may last ${MAINTENANCE_DAYS_MAX} days at most`,
      ['name an earlier time, and prolong the window when it is needed', 'evict the node instead'],
    );
  }
  const isSame =
    maintenance?.until.getTime() === wanted.until.getTime() && maintenance.reason === wanted.reason;
  return isSame ? unchanged(`node ${name} is in maintenance until then already`) : ALLOWED;
}

export function decideMaintenanceEnd({ name, maintenance }: MaintenanceFacts): Decision<never> {
  return maintenance === undefined ? unchanged(`node ${name} is not in maintenance`) : ALLOWED;
}
