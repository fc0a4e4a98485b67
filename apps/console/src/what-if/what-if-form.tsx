'use client';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Button } from '@holdfast/ui/button.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useDisksOf, useSomeNodes } from '../api/node-queries';
import { isProblem } from '../api/problem';
import type { Zone } from '../api/types';
import { useForbidden } from '../api/use-access';
import { nodeSearch } from '../shared/node-search';
import { Choices } from './choices';
import { DrainedNodes } from './drained-nodes';
import { FurtherDisks } from './further-disks';
import { NewNodes } from './new-nodes';
import { fieldValue, hasFurther, parametersOf, REBUILD_LIMIT } from './question';

/** Nodes that are offered at once, as many as one filter names. */
const OFFERED_MAX = 25;

type Props = {
  zones: readonly Zone[];
  /** Parameters of the page's address: the last question. */
  asked: string;
  /** Error of the last answer; the answer's panel shows it, and errors of fields are shown beside them. */
  error: unknown;
  busy: boolean;
  onSubmit: (parameters: URLSearchParams) => void;
};

export function WhatIfForm({ zones, asked, error, busy, onSubmit }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const forbidden = useForbidden()('placement:simulate');
  const problem = isProblem(error) ? error : undefined;
  const errorAt = (pointer: string) => problem?.errors.find((item) => item.pointer === pointer)?.detail;
  const [text, search] = useState('');
  const { names, places } = useOffered(text);
  const isMany = zones.reduce((total, { nodes }) => total + nodes.total, 0) > OFFERED_MAX;
  const zoneNames = [...new Set(zones.flatMap(({ zone }) => (zone === null ? [] : [zone])))].sort();
  const choices = (legend: string, name: string, offered: readonly string[]) => (
    <Choices legend={legend} name={name} offered={offered} asked={asked} />
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (forbidden === undefined) onSubmit(parametersOf(new FormData(event.currentTarget)));
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
      {isMany && (
        <TextField
          label="Find nodes"
          hint={`The first ${OFFERED_MAX} nodes whose name, zone or tag begins so are offered below, with their disks`}
          value={text}
          onChange={(event) => search(event.target.value)}
        />
      )}
      {choices('Lose zones', 'zone', zoneNames)}
      {choices('Lose nodes', 'node', names)}
      {choices('Lose disks', 'disk', places)}
      <DrainedNodes offered={names} asked={asked} />
      {choices('Add a disk to nodes', 'diskNode', names)}
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
      <Further asked={asked} errorAt={errorAt} />
      <div>
        <Button type="submit" variant="primary" busy={busy} disabledReason={forbidden}>
          Try it
        </Button>
      </div>
    </form>
  );
}

type FurtherProps = { asked: string; errorAt: (pointer: string) => string | undefined };

/** Fields that most questions do without. */
function Further({ asked, errorAt }: FurtherProps) {
  const inAddress = new URLSearchParams(asked);
  const tags = 'With spaces between them';
  return (
    <details open={hasFurther(inAddress)}>
      <summary className="min-h-6 cursor-pointer text-sm font-medium">
        Tags, new nodes, kinds of disks, settings
      </summary>
      <div className="grid grid-cols-2 gap-3 pt-3">
        <TextField
          label="Tags of their nodes"
          name="nodeTags"
          hint={tags}
          error={errorAt('/volumes/0/nodeSelector')}
        />
        <TextField
          label="Tags of their disks"
          name="diskTags"
          hint={tags}
          error={errorAt('/volumes/0/diskSelector')}
        />
        <TextField label="Disks added to each node" name="diskCount" type="number" min={1} required />
        <SelectField label="Kind of added disks" name="diskType">
          <option value="filesystem">File system</option>
          <option value="block">Block device</option>
        </SelectField>
        <TextField label="Tags of added disks" name="newDiskTags" hint={tags} />
        <FurtherDisks asked={asked} />
        <NewNodes asked={asked} errorAt={errorAt} />
        <div className="col-span-2">
          <TextField
            label="Settings with other values"
            name="settings"
            hint="name=value, with spaces between them"
            error={problemOfSettings(inAddress, errorAt)}
          />
        </div>
      </div>
    </details>
  );
}

function problemOfSettings(
  asked: URLSearchParams,
  errorAt: (pointer: string) => string | undefined,
): string | undefined {
  const names = (asked.get('settings') ?? '').split(/\s+/).map((pair) => pair.split('=')[0]);
  const problems = names.flatMap((name) => errorAt(`/settings/${name}`) ?? []);
  return problems[0];
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

/** Names of the nodes that a search finds, and of their disks with them. */
function useOffered(text: string): { names: readonly string[]; places: readonly string[] } {
  const nodes = useSomeNodes({ filter: nodeSearch(text), limit: OFFERED_MAX }).data ?? [];
  const disks = useDisksOf(nodes.map(({ id }) => id)).data ?? [];
  const nameOf = new Map(nodes.map(({ id, name }) => [id, name]));
  return {
    names: nodes.map(({ name }) => name),
    places: disks.flatMap(({ nodeId, name }) => {
      const node = nameOf.get(nodeId);
      return node === undefined ? [] : [`${node}/${name}`];
    }),
  };
}
