import type { VolumeSetting } from '../api/types';

type Name = VolumeSetting['name'];

/** The settings that a volume may answer for itself, as users read them. A new one is a type error here. */
const NAMES = {
  snapshotDataIntegrity: 'Hash snapshots automatically',
  snapshotMaxCount: 'Snapshots at most',
  offlineRebuilding: 'Rebuild when not in use',
  replicaSoftAntiAffinity: 'Copies may share a node',
  replicaZoneSoftAntiAffinity: 'Copies may share a zone',
  replicaDiskSoftAntiAffinity: 'Copies may share a disk',
  replicaDiskChoice: 'Disk of a node',
  replicaAutoBalance: 'Balance copies automatically',
} satisfies Record<Name, string>;

const SWITCH: Record<string, string> = { enabled: 'Yes', disabled: 'No' };
const VALUES: Partial<Record<Name, Record<string, string>>> = {
  snapshotDataIntegrity: { disabled: 'No', enabled: 'In full', 'fast-check': 'What changed' },
  offlineRebuilding: SWITCH,
  replicaSoftAntiAffinity: SWITCH,
  replicaZoneSoftAntiAffinity: SWITCH,
  replicaDiskSoftAntiAffinity: SWITCH,
  replicaDiskChoice: { spread: 'The emptiest', pack: 'The fullest' },
  replicaAutoBalance: { disabled: 'No', 'least-effort': 'Least effort', 'best-effort': 'Best effort' },
};

export function settingName(name: Name): string {
  return NAMES[name];
}

export function settingValue(name: Name, value: string | number): string {
  return VALUES[name]?.[String(value)] ?? String(value);
}
