import type { ClusterSettings, SettingName } from '../model/setting.js';
import { ALLOWED, type Decision, refuse } from './decision.js';

/** Switches that contradict each other when both are on: the first asks for what the second forbids. */
const CONTRADICTIONS: readonly (readonly [asks: SettingName, forbids: SettingName])[] = [
  ['auto-cleanup-system-generated-snapshot', 'disable-snapshot-purge'],
];

/**
 * May a setting be changed so?
 *
 * Only the changed one is judged: a cluster that has come to contradicting settings otherwise can be led out by changing
 * either.
 *
 * @param settings what would be in effect then
 */
export function decideSetting(settings: ClusterSettings, changed: string): Decision {
  for (const [asks, forbids] of CONTRADICTIONS) {
    const other = changed === asks ? forbids : changed === forbids ? asks : undefined;
    if (other === undefined || settings[asks] !== true || settings[forbids] !== true) continue;
    const why = `${asks} asks for what ${forbids} forbids: they can not both be true`;
    return refuse('setting.invalid', why, [`set ${other} to false first`]);
  }
  return ALLOWED;
}
