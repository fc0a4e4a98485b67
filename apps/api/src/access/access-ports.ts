import type { AccessPorts } from '@holdfast/control/ports/access-store.js';
import { PostgresAccess } from '@holdfast/database/access/postgres-access.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { noteEnded } from './hold-right.js';
import type { Tenant } from './tenant.js';

/** For use cases about the caller's organization: each change in one transaction, with its audit entry; in a dry run it is rolled back. */
export function accessPorts(tenant: Tenant): AccessPorts {
  const { organizationId } = tenant.actor;
  return {
    access: {
      change: (work) =>
        tenant.write((sql) =>
          work(new PostgresAccess(sql, organizationId, (ended) => noteEnded(sql, tenant, ended))),
        ),
    },
    clock: systemClock,
  };
}
