'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { type FormEvent, useState } from 'react';
import type { PlannedRequest } from '../api/dry-run';
import type { StorageNode } from '../api/types';
import { PlanDialog } from '../shared/plan-dialog';

type Props = { node: StorageNode; path: string; onClose: () => void };

/** Labels and switches of a node: first the form, then the dry run of the change. */
export function NodeSpecDialog({ node, path, onClose }: Props) {
  const [body, setBody] = useState<PlannedRequest['body']>();
  if (body !== undefined) {
    return (
      <PlanDialog
        title={`Change ${node.name}`}
        description="Existing copies stay. Placement uses the new values from now on."
        request={{ method: 'PATCH', path, body }}
        confirmLabel="Change node"
        done={`${node.name} is changed.`}
        onClose={onClose}
      />
    );
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBody(bodyOf(new FormData(event.currentTarget)));
  }

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Change ${node.name}`}
      description="Its failure domains, its tags, and whether new copies may come. The next step shows the plan."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label="Zone"
            name="zone"
            autoComplete="off"
            defaultValue={node.zone ?? ''}
            hint="Empty: none"
          />
          <TextField
            label="Region"
            name="region"
            autoComplete="off"
            defaultValue={node.region ?? ''}
            hint="Empty: none"
          />
        </div>
        <TextField
          label="Tags"
          name="tags"
          autoComplete="off"
          defaultValue={node.tags.join(', ')}
          hint="Separated by commas. Volumes whose node selector names tags are placed only where all of them are."
        />
        <SelectField
          label="New copies"
          name="scheduling"
          defaultValue={node.allowScheduling ? 'open' : 'closed'}
        >
          <option value="open">May come</option>
          <option value="closed">Stay away; those on it stay</option>
        </SelectField>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary">
            Show the plan
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function bodyOf(form: FormData): NonNullable<PlannedRequest['body']> {
  const text = (name: string) => String(form.get(name)).trim();
  const tags = text('tags').split(',');
  return {
    zone: text('zone') === '' ? null : text('zone'),
    region: text('region') === '' ? null : text('region'),
    tags: tags.map((tag) => tag.trim()).filter((tag) => tag !== ''),
    allowScheduling: form.get('scheduling') === 'open',
  };
}
