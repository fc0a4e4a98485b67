import { VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import type { VolumeSetting } from '../api/types';

type Name = VolumeSetting['name'];

const SWITCH: Readonly<Record<string, string>> = { enabled: 'Yes', disabled: 'No' };

const BY_NAME = new Map(VOLUME_OVERRIDES.map(({ field, volume }) => [field, volume]));

export function settingName(name: Name): string {
  return BY_NAME.get(name)?.title ?? name;
}

export function settingValue(name: Name, value: string | number): string {
  return (BY_NAME.get(name)?.words ?? SWITCH)[String(value)] ?? String(value);
}
