/** The form of a new volume as the request that makes it, and as the shape of the question while a user types. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { overrideBounds, VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import type { NewVolume, VolumeShape } from '../api/client';

/** Sizes are given in GiB and rounded to whole MiB, which are always a multiple of the block size. */
export function readVolumeForm(form: FormData): NewVolume {
  const labels = labelsIn(form);
  const zones = wordsIn(form, 'zones');
  const projectId = textIn(form, 'projectId');
  return {
    name: textIn(form, 'name'),
    ...specIn(form),
    ...(projectId === '' ? {} : { projectId }),
    ...(zones.length === 0 ? {} : { topologyRequirement: zones.map((zone) => ({ zone })) }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  };
}

/** `undefined`: its size is not written yet. */
export function readVolumeShape(form: FormData): VolumeShape | undefined {
  const spec = specIn(form);
  const isAskable = spec.size > 0 && (spec.numberOfReplicas ?? 0) > 0;
  return isAskable ? { count: 1, ...spec } : undefined;
}

function specIn(form: FormData) {
  const overrides = Object.fromEntries(
    VOLUME_OVERRIDES.flatMap((override) => {
      const text = textIn(form, override.field);
      if (text === '') return [];
      return [[override.field, overrideBounds(override) === undefined ? text : Number(text)]];
    }),
  );
  const nodeSelector = wordsIn(form, 'nodeSelector');
  const diskSelector = wordsIn(form, 'diskSelector');
  const dataLocality = LOCALITIES.find((one) => one === form.get('dataLocality'));
  const spec: Omit<VolumeShape, 'count'> = {
    size: Math.round(Number(form.get('sizeGib')) * 1024) * (GIB / 1024),
    numberOfReplicas: Number(form.get('replicas')),
    // The fields of overrides and their values are those of their definitions.
    ...(overrides as Partial<VolumeShape>),
    ...(form.get('dataEngine') === 'v2' ? { dataEngine: 'v2' as const } : {}),
    ...(dataLocality === undefined ? {} : { dataLocality }),
    ...(nodeSelector.length === 0 ? {} : { nodeSelector }),
    ...(diskSelector.length === 0 ? {} : { diskSelector }),
  };
  return spec;
}

const LOCALITIES = ['best-effort', 'strict-local'] as const;

function textIn(form: FormData, name: string): string {
  return String(form.get(name) ?? '').trim();
}

function wordsIn(form: FormData, name: string): string[] {
  return textIn(form, name)
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** `team=a, tier` as two labels, the second without a value. */
function labelsIn(form: FormData): Record<string, string> {
  return Object.fromEntries(
    wordsIn(form, 'labels').map((word) => {
      const [key = '', value = ''] = word.split(/=(.*)/s);
      return [key, value];
    }),
  );
}
