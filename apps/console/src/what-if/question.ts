/** A what-if as the address of its page, so that it can be shared: its form's fields are the address's parameters. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { DRAIN_POLICIES, type DrainPolicy } from '@holdfast/core/model/node-drain.js';
import type { WhatIf } from '../api/client';

export const REBUILD_LIMIT = 'concurrent-replica-rebuild-per-node-limit';

/** Fields as they are when nothing was asked yet. */
const DEFAULTS: Readonly<Record<string, string>> = {
  count: '1',
  sizeGib: '10',
  replicas: '3',
  diskGib: '100',
  policy: 'block-for-eviction',
  limit: '',
};

/** Value of a field that holds one. */
export function fieldValue(asked: URLSearchParams, field: string): string {
  const otherwise = field === 'count' && asked.size > 0 ? '0' : DEFAULTS[field];
  return asked.get(field) ?? otherwise ?? '';
}

/** The address's parameters of a form: fields that were left empty are left out. */
export function parametersOf(form: FormData): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of form) {
    if (typeof value === 'string' && value !== '') parameters.append(name, value);
  }
  return parameters;
}

/** `undefined`: nothing was asked. Sizes are in GiB, rounded to whole MiB, which are always a multiple of the block size. */
export function questionOf(asked: URLSearchParams): WhatIf | undefined {
  if (asked.size === 0) return undefined;
  const bytesOf = (field: string) => Math.round(Number(fieldValue(asked, field)) * 1024) * (GIB / 1024);
  const count = Number(asked.get('count') ?? 0);
  const shape = { count, size: bytesOf('sizeGib'), numberOfReplicas: Number(fieldValue(asked, 'replicas')) };
  const size = bytesOf('diskGib');
  const policy = policyOf(fieldValue(asked, 'policy'));
  const limit = asked.get('limit');
  return {
    volumes: count === 0 ? [] : [shape],
    lose: { zones: asked.getAll('zone'), nodes: asked.getAll('node'), disks: asked.getAll('disk') },
    add: { disks: asked.getAll('diskNode').map((node) => ({ node, size })) },
    drain: asked.getAll('drain').map((node) => ({ node, policy })),
    settings: limit === null ? {} : { [REBUILD_LIMIT]: Number(limit) },
    howManyMore: asked.has('howManyMore'),
  };
}

/** An address that was typed may name any; the first stands for what there is not. */
function policyOf(text: string): DrainPolicy {
  return DRAIN_POLICIES.find((policy) => policy === text) ?? DRAIN_POLICIES[0];
}
