import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { decideSetting } from '@holdfast/core/policy/decide-setting.js';
import { settingEvents } from '@holdfast/core/policy/setting-events.js';
import { definitionOf, effectiveSettings, parseSettingValue } from '@holdfast/core/settings/effective.js';
import type { AccessPorts } from '../ports/access-store.js';
import { assertVersion, hasToAct } from './use-case.js';

/**
 * Sets a cluster's setting, or with undefined goes back to its default.
 *
 * @throws StorageFault `setting.not_found`, `setting.invalid`, `cluster.not_found`, `request.stale`
 */
export async function changeSetting(
  { access, clock }: AccessPorts,
  clusterId: ClusterId,
  wanted: { name: string; value: unknown; ifVersion?: number | undefined },
): Promise<void> {
  const { name, ifVersion } = wanted;
  const value = wanted.value === undefined ? undefined : parseSettingValue(name, wanted.value);
  if (value === undefined) definitionOf(name);
  await access.change(async (transaction) => {
    const stored = await transaction.lockSettings(clusterId);
    if (stored === undefined) {
      throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
    }
    assertVersion(stored.version, ifVersion);
    const { [name]: _, ...others } = stored.overrides;
    const before = effectiveSettings(stored.overrides);
    const after = effectiveSettings(value === undefined ? others : { ...others, [name]: value });
    hasToAct(decideSetting(after, name));
    const at = clock.now();
    const events = settingEvents(clusterId, { before, after, at });
    await transaction.storeSetting(clusterId, { name, value, at, events });
  });
}
