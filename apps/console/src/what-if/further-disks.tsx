'use client';
import { Button } from '@holdfast/ui/button.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { GroupList } from './group-list';
import { diskGroupsOf, fieldValue, groupField } from './question';
import { useFromAddress } from './use-from-address';

/** Disks of other kinds than those above, each kind for the nodes that it names. */
export function FurtherDisks({ asked }: { asked: string }) {
  const [groups, setGroups] = useFromAddress(asked, diskGroupsOf);
  return (
    <GroupList groups={groups} onChange={setGroups} adding="Add disks of another kind">
      {(group, remove) => <Group key={group} group={group} asked={asked} onRemove={remove} />}
    </GroupList>
  );
}

function Group({ group, asked, onRemove }: { group: number; asked: string; onRemove: () => void }) {
  const address = new URLSearchParams(asked);
  const field = (name: string) => {
    const its = groupField(name, group);
    // A group that is added later is not there yet when the form is filled from the address.
    return { name: its, defaultValue: fieldValue(address, its) };
  };
  return (
    <fieldset className="grid grid-cols-2 gap-3 rounded-md border border-border px-3 pt-1 pb-3">
      <legend className="px-1 text-xs font-medium text-muted">Disks of kind {group}</legend>
      <TextField {...field('diskNode')} label="For nodes" hint="Names with spaces between them" required />
      <TextField
        {...field('diskGib')}
        label="GiB of each disk"
        type="number"
        min="0.001"
        step="any"
        required
      />
      <TextField {...field('diskCount')} label="Disks for each node" type="number" min={1} required />
      <SelectField {...field('diskType')} label="Kind of disks">
        <option value="filesystem">File system</option>
        <option value="block">Block device</option>
      </SelectField>
      <TextField {...field('newDiskTags')} label="Tags of disks" hint="With spaces between them" />
      <div className="col-span-2">
        <Button onClick={onRemove}>Remove kind {group}</Button>
      </div>
    </fieldset>
  );
}
