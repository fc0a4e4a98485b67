'use client';
import { Button } from '@holdfast/ui/button.js';
import { type ReactNode, useRef } from 'react';

type Props = {
  /** Numbers of the groups. The first group of all has 1, whether it is among these or not. */
  groups: readonly number[];
  onChange: (groups: number[]) => void;
  adding: string;
  children: (group: number, remove: () => void) => ReactNode;
};

/** Groups of fields to which further ones can be added and removed. */
export function GroupList({ groups, onChange, adding, children }: Props) {
  const adder = useRef<HTMLDivElement>(null);

  function remove(group: number) {
    onChange(groups.filter((one) => one !== group));
    // The button that had the focus goes with its group, and would leave the keyboard at the top of the page.
    adder.current?.querySelector('button')?.focus();
  }

  return (
    <div className="col-span-2 flex flex-col gap-3">
      {groups.map((group) => children(group, () => remove(group)))}
      <div ref={adder}>
        <Button onClick={() => onChange([...groups, Math.max(1, ...groups) + 1])}>{adding}</Button>
      </div>
    </div>
  );
}
