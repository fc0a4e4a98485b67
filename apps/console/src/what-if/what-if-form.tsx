'use client';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Button } from '@holdfast/ui/button.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { type FormEvent, useEffect, useRef } from 'react';
import { isProblem } from '../api/problem';
import type { Disk, StorageNode } from '../api/types';
import { POLICY_WORDS } from '../shared/drain-words';
import { fieldValue, parametersOf, REBUILD_LIMIT } from './question';

type Props = {
  nodes: readonly StorageNode[];
  disks: readonly Disk[];
  /** Parameters of the page's address: what was asked last. */
  asked: string;
  /** Of the last answer; the answer's panel tells it, and what is about a field stands beside it. */
  error: unknown;
  busy: boolean;
  onSubmit: (parameters: URLSearchParams) => void;
};

export function WhatIfForm({ nodes, disks, asked, error, busy, onSubmit }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const problem = isProblem(error) ? error : undefined;
  const errorAt = (pointer: string) => problem?.errors.find((item) => item.pointer === pointer)?.detail;
  const zones = [...new Set(nodes.map(({ zone }) => zone).filter((zone) => zone !== null))].sort();
  const names = nodes.map(({ name }) => name).sort();
  const nameOf = new Map(nodes.map(({ id, name }) => [id, name]));
  const places = disks.map(({ nodeId, name }) => `${nameOf.get(nodeId) ?? nodeId}/${name}`).sort();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(parametersOf(new FormData(event.currentTarget)));
  }

  // The address may change without the form: a link, or back.
  useEffect(() => fill(form.current, new URLSearchParams(asked)), [asked]);

  return (
    <form ref={form} onSubmit={submit} className="flex flex-col gap-3">
      <div className="grid grid-cols-3 gap-3">
        <TextField
          label="New volumes"
          name="count"
          type="number"
          min={0}
          required
          error={errorAt('/volumes/0/count')}
        />
        <TextField
          label="GiB each"
          name="sizeGib"
          type="number"
          min="0.001"
          step="any"
          required
          error={errorAt('/volumes/0/size')}
        />
        <TextField
          label="Copies"
          name="replicas"
          type="number"
          min={1}
          max={REPLICA_COUNT_MAX}
          required
          error={errorAt('/volumes/0/numberOfReplicas')}
        />
      </div>
      <Choices legend="Lose zones" name="zone" values={zones} />
      <Choices legend="Lose nodes" name="node" values={names} />
      <Choices legend="Lose disks" name="disk" values={places} />
      <Choices legend="Drain nodes" name="drain" values={names} />
      <SelectField label="When a drained node may be switched off" name="policy">
        {DRAIN_POLICIES.map((policy) => (
          <option key={policy} value={policy}>
            {POLICY_WORDS[policy]}
          </option>
        ))}
      </SelectField>
      <Choices legend="Add a disk to nodes" name="diskNode" values={names} />
      <TextField label="GiB of each new disk" name="diskGib" type="number" min="0.001" step="any" required />
      <TextField
        label="Rebuilds that a node receives at once"
        name="limit"
        type="number"
        min={0}
        hint="Empty: as it is set now"
        error={errorAt(`/settings/${REBUILD_LIMIT}`)}
      />
      <label className="flex min-h-6 items-center gap-2 text-sm">
        <input type="checkbox" name="howManyMore" value="on" />
        Count how many more would fit
      </label>
      <div>
        <Button type="submit" variant="primary" busy={busy}>
          Try it
        </Button>
      </div>
    </form>
  );
}

function fill(form: HTMLFormElement | null, asked: URLSearchParams): void {
  for (const field of form?.elements ?? []) {
    if (field instanceof HTMLInputElement && field.type === 'checkbox') {
      field.checked = asked.getAll(field.name).includes(field.value);
    } else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) {
      field.value = fieldValue(asked, field.name);
    }
  }
}

function Choices({ legend, name, values }: { legend: string; name: string; values: readonly string[] }) {
  if (values.length === 0) return null;
  return (
    <fieldset>
      <legend className="text-xs font-medium text-muted">{legend}</legend>
      <div className="flex max-h-48 flex-wrap gap-x-4 overflow-y-auto">
        {values.map((value) => (
          <label key={value} className="flex min-h-6 items-center gap-2 text-sm">
            <input type="checkbox" name={name} value={value} />
            {value}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
