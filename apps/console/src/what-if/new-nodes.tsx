'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { GroupList } from './group-list';
import { fieldValue, groupField, groupsAsked, groupsOf } from './question';
import { useFromAddress } from './use-from-address';

type Props = { asked: string; errorAt: (pointer: string) => string | undefined };

/** Groups of similar new nodes, each with its disks. Typed values stay while groups come and go. */
export function NewNodes({ asked, errorAt }: Props) {
  const [groups, setGroups] = useFromAddress(asked, groupsOf);
  return (
    <GroupList groups={groups} onChange={setGroups} adding="Add a group of new nodes">
      {(group, remove) => (
        <Group
          key={group}
          group={group}
          asked={asked}
          errorAt={errorAt}
          {...(group === 1 ? {} : { onRemove: remove })}
        />
      )}
    </GroupList>
  );
}

type GroupProps = Props & { group: number; onRemove?: () => void };

function Group({ group, asked, errorAt, onRemove }: GroupProps) {
  const address = new URLSearchParams(asked);
  const index = groupsAsked(address).indexOf(group);
  const errorOf = (pointer: string) => errorAt(`/add/nodes/${index}/${pointer}`);
  const field = (name: string) => {
    const its = groupField(name, group);
    // A group that is added later is not there yet when the form is filled from the address.
    return { name: its, defaultValue: fieldValue(address, its) };
  };
  return (
    <fieldset className="grid grid-cols-2 gap-3 rounded-md border border-border px-3 pt-1 pb-3">
      <legend className="px-1 text-xs font-medium text-muted">Group {group} of new nodes</legend>
      <TextField
        {...field('newNodes')}
        label="New nodes"
        type="number"
        min={group === 1 ? 0 : 1}
        required
        error={errorOf('count')}
      />
      <TextField {...field('newNodeName')} label="Name of the first" error={errorOf('name')} />
      <TextField {...field('newNodeZone')} label="Zone of new nodes" error={errorOf('zone')} />
      <TextField
        {...field('newNodeTags')}
        label="Tags of new nodes"
        hint="With spaces between them"
        error={errorOf('tags')}
      />
      <TextField
        {...field('newNodeDisks')}
        label="Disks of each new node"
        type="number"
        min={0}
        required
        error={errorOf('disks')}
      />
      <TextField
        {...field('newNodeGib')}
        label="GiB of each disk"
        type="number"
        min="0.001"
        step="any"
        required
        error={errorOf('disks/0/size')}
      />
      {onRemove !== undefined && (
        <div className="col-span-2">
          <Button onClick={onRemove}>Remove group {group}</Button>
        </div>
      )}
    </fieldset>
  );
}
