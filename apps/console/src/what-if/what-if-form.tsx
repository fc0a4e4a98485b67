'use client';
import { GIB } from '@holdfast/core/model/bytes.js';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import type { FormEvent } from 'react';
import type { WhatIf } from '../api/client';
import { isProblem } from '../api/problem';
import type { StorageNode } from '../api/types';

type Props = {
  nodes: readonly StorageNode[];
  error: unknown;
  busy: boolean;
  onSubmit: (request: WhatIf) => void;
};

export function WhatIfForm({ nodes, error, busy, onSubmit }: Props) {
  const problem = isProblem(error) ? error : undefined;
  const errorAt = (pointer: string) => problem?.errors.find((item) => item.pointer === pointer)?.detail;
  const zones = [...new Set(nodes.map(({ zone }) => zone).filter((zone) => zone !== null))].sort();
  const names = nodes.map(({ name }) => name).sort();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(readForm(new FormData(event.currentTarget)));
  }

  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <div className="grid grid-cols-3 gap-3">
        <TextField
          label="New volumes"
          name="count"
          type="number"
          min={0}
          defaultValue="1"
          required
          error={errorAt('/volumes/0/count')}
        />
        <TextField
          label="GiB each"
          name="sizeGib"
          type="number"
          min="0.001"
          step="any"
          defaultValue="10"
          required
          error={errorAt('/volumes/0/size')}
        />
        <TextField
          label="Copies"
          name="replicas"
          type="number"
          min={1}
          max={REPLICA_COUNT_MAX}
          defaultValue="3"
          required
          error={errorAt('/volumes/0/numberOfReplicas')}
        />
      </div>
      <Choices legend="Lose zones" name="zone" values={zones} />
      <Choices legend="Lose nodes" name="node" values={names} />
      <Choices legend="Add a disk to nodes" name="diskNode" values={names} />
      <TextField
        label="GiB of each new disk"
        name="diskGib"
        type="number"
        min="0.001"
        step="any"
        defaultValue="100"
        required
      />
      <label className="flex min-h-6 items-center gap-2 text-sm">
        <input type="checkbox" name="howManyMore" defaultChecked />
        Count how many more would fit
      </label>
      {error !== null && (problem === undefined || problem.errors.length === 0) && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {problem?.detail ?? 'There was no answer. The API may be restarting.'}
        </p>
      )}
      <div>
        <Button type="submit" variant="primary" busy={busy}>
          Try it
        </Button>
      </div>
    </form>
  );
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

/** Sizes are given in GiB and rounded to whole MiB, which are always a multiple of the block size. */
function readForm(form: FormData): WhatIf {
  const bytesOf = (field: string) => Math.round(Number(form.get(field)) * 1024) * (GIB / 1024);
  const count = Number(form.get('count'));
  const shape = { count, size: bytesOf('sizeGib'), numberOfReplicas: Number(form.get('replicas')) };
  const diskBytes = bytesOf('diskGib');
  return {
    volumes: count === 0 ? [] : [shape],
    lose: { zones: form.getAll('zone').map(String), nodes: form.getAll('node').map(String) },
    add: { disks: form.getAll('diskNode').map((node) => ({ node: String(node), size: diskBytes })) },
    howManyMore: form.get('howManyMore') !== null,
  };
}
