'use client';
import { useState } from 'react';

type Props = {
  legend: string;
  name: string;
  offered: readonly string[];
  asked: string;
  onChoose?: (value: string, isOn: boolean) => void;
};

/** A chosen value that was used in a question stays, whatever is offered beside it. */
export function Choices({ legend, name, offered, asked, onChoose }: Props) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const inAddress = new URLSearchParams(asked).getAll(name);
  const values = [...new Set([...inAddress, ...chosen, ...offered])].sort();
  function choose(value: string, isOn: boolean) {
    setChosen(isOn ? [...chosen, value] : chosen.filter((one) => one !== value));
    onChoose?.(value, isOn);
  }
  if (values.length === 0) return null;
  return (
    <fieldset>
      <legend className="text-xs font-medium text-muted">{legend}</legend>
      <div className="flex max-h-48 flex-wrap gap-x-4 overflow-y-auto">
        {values.map((value) => (
          <label key={value} className="flex min-h-6 items-center gap-2 text-sm">
            <input
              type="checkbox"
              name={name}
              value={value}
              defaultChecked={inAddress.includes(value)}
              onChange={(event) => choose(value, event.target.checked)}
            />
            {value}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
