import { BLOCK_BYTES, VOLUME_BYTES_MAX } from '../model/bytes.js';
import { type FaultItem, StorageFault } from '../model/faults.js';
import type { DataEngine } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import {
  type DataLocality,
  REPLICA_COUNT_MAX,
  REPLICA_COUNT_MIN,
  type TopologyTerm,
  type VolumeSpec,
} from '../model/volume.js';
import {
  followingValue,
  type OverrideField,
  overrideBounds,
  overridesFrom,
  VOLUME_OVERRIDES,
  type VolumeOverrides,
} from '../model/volume-overrides.js';
import { settingsOf } from '../settings/engine-maps.js';

/** What a user says of a new volume; everything but the size has a default. */
export type VolumeSpecInput = { [Field in OverrideField]?: VolumeOverrides[Field] | undefined } & {
  sizeBytes: number;
  numberOfReplicas?: number | undefined;
  dataEngine?: DataEngine | undefined;
  nodeSelector?: readonly string[] | undefined;
  diskSelector?: readonly string[] | undefined;
  topologyRequirement?: readonly Partial<TopologyTerm>[] | undefined;
  dataLocality?: DataLocality | undefined;
};

/** Tags per selector: more would be a mistake, and each is compared on every candidate. */
const SELECTOR_TAGS_MAX = 32;
const TAG_LENGTH_MAX = 128;
/** As many as a tag list may have; each is compared with every node. */
const TOPOLOGY_TERMS_MAX = 32;
/** A DNS label with dots inside: the name ends up in export names, file names and URLs. */
const VOLUME_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

/**
 * Completes and checks what a user said of a new volume.
 *
 * @throws StorageFault `request.invalid` that lists every wrong field at once
 */
export function resolveVolumeSpec(
  name: string,
  input: VolumeSpecInput,
  settings: ClusterSettings,
): VolumeSpec {
  const spec: VolumeSpec = {
    sizeBytes: input.sizeBytes,
    numberOfReplicas:
      input.numberOfReplicas ?? settingsOf(settings, input.dataEngine ?? 'v1')['default-replica-count'],
    dataEngine: input.dataEngine ?? 'v1',
    nodeSelector: input.nodeSelector ?? [],
    diskSelector: input.diskSelector ?? [],
    topologyRequirement: (input.topologyRequirement ?? []).map(({ zone, region }) => ({ zone, region })),
    dataLocality: input.dataLocality ?? settings['default-data-locality'],
    ...overridesFrom((override) => input[override.field] ?? followingValue(override)),
  };
  const nameProblems = VOLUME_NAME.test(name)
    ? []
    : [
        {
          pointer: '/name',
          detail: 'must be 1 to 63 of a-z, 0-9, - and ., starting and ending with a letter or digit',
        },
      ];
  rejectIfAny([...nameProblems, ...volumeSpecProblems(spec)]);
  return spec;
}

/** What of a volume may change by a patch. Its size changes by `expand`, its engine and its topology never. */
export type VolumeSpecPatch = {
  [Field in Exclude<keyof VolumeSpec, 'sizeBytes' | 'dataEngine' | 'topologyRequirement'>]?:
    | VolumeSpec[Field]
    | undefined;
};

export function patchedSpec(spec: VolumeSpec, patch: VolumeSpecPatch): VolumeSpec {
  return {
    ...spec,
    numberOfReplicas: patch.numberOfReplicas ?? spec.numberOfReplicas,
    nodeSelector: patch.nodeSelector ?? spec.nodeSelector,
    diskSelector: patch.diskSelector ?? spec.diskSelector,
    dataLocality: patch.dataLocality ?? spec.dataLocality,
    ...overridesFrom(({ field }) => patch[field] ?? spec[field]),
  };
}

/** @throws StorageFault `request.invalid` that lists every wrong field at once */
export function assertVolumeSpec(spec: VolumeSpec): void {
  rejectIfAny(volumeSpecProblems(spec));
}

function rejectIfAny(errors: FaultItem[]): void {
  if (errors.length === 0) return;
  const publicMessage = errors.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join('; ');
  throw new StorageFault('request.invalid', { publicMessage, errors });
}

function volumeSpecProblems(spec: VolumeSpec): FaultItem[] {
  return [
    ...sizeProblems(spec.sizeBytes),
    ...replicaCountProblems(spec),
    ...selectorProblems('nodeSelector', spec.nodeSelector),
    ...selectorProblems('diskSelector', spec.diskSelector),
    ...topologyProblems(spec),
    ...countProblems(spec),
  ];
}

function sizeProblems(sizeBytes: number): FaultItem[] {
  const isWholeBlocks = Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && sizeBytes % BLOCK_BYTES === 0;
  if (isWholeBlocks && sizeBytes <= VOLUME_BYTES_MAX) return [];
  const detail = `must be a whole number of ${BLOCK_BYTES}-byte blocks, from ${BLOCK_BYTES} to ${VOLUME_BYTES_MAX}`;
  return [{ pointer: '/size', detail }];
}

function replicaCountProblems({ numberOfReplicas, dataLocality }: VolumeSpec): FaultItem[] {
  const pointer = '/numberOfReplicas';
  const isInRange =
    Number.isInteger(numberOfReplicas) &&
    numberOfReplicas >= REPLICA_COUNT_MIN &&
    numberOfReplicas <= REPLICA_COUNT_MAX;
  if (!isInRange) {
    const detail = `must be a whole number from ${REPLICA_COUNT_MIN} to ${REPLICA_COUNT_MAX}`;
    return [{ pointer, detail }];
  }
  if (dataLocality === 'strict-local' && numberOfReplicas !== 1) {
    return [{ pointer, detail: 'must be 1 with data locality strict-local' }];
  }
  return [];
}

/** The counts that a volume sets for itself have the bounds of the setting. */
function countProblems(spec: VolumeSpec): FaultItem[] {
  return VOLUME_OVERRIDES.flatMap((override) => {
    const { field, definition } = override;
    const value = spec[field];
    const bounds = overrideBounds(override);
    if (definition.type !== 'integer' || bounds === undefined || value === 0) return [];
    const { min, max } = bounds;
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return [];
    return [
      { pointer: `/${field}`, detail: `must be from ${min} to ${max}, or 0 for the cluster's setting` },
    ];
  });
}

function topologyProblems({ topologyRequirement: terms }: VolumeSpec): FaultItem[] {
  const isLabel = (label: string | undefined) =>
    label === undefined || (label.length > 0 && label.length <= TAG_LENGTH_MAX);
  const isTerm = ({ zone, region }: TopologyTerm) =>
    (zone !== undefined || region !== undefined) && isLabel(zone) && isLabel(region);
  if (terms.length <= TOPOLOGY_TERMS_MAX && terms.every(isTerm)) return [];
  const detail = `must be at most ${TOPOLOGY_TERMS_MAX} terms, each with a zone, a region or both, of 1 to ${TAG_LENGTH_MAX} characters`;
  return [{ pointer: '/topologyRequirement', detail }];
}

function selectorProblems(field: string, tags: readonly string[]): FaultItem[] {
  const isFine =
    tags.length <= SELECTOR_TAGS_MAX && tags.every((tag) => tag.length > 0 && tag.length <= TAG_LENGTH_MAX);
  if (isFine) return [];
  const detail = `must be at most ${SELECTOR_TAGS_MAX} tags of 1 to ${TAG_LENGTH_MAX} characters`;
  return [{ pointer: `/${field}`, detail }];
}
