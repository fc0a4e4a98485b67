'use client';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import { SelectField } from '@holdfast/ui/field.js';
import { POLICY_WORDS } from '../shared/drain-words';
import { Choices } from './choices';
import { fieldValue, POLICY_AS_SET, policyField } from './question';
import { useFromAddress } from './use-from-address';

type Props = { offered: readonly string[]; asked: string };

/** Nodes to drain, and when each may be switched off: all alike, save those that have a policy of their own. */
export function DrainedNodes({ offered, asked }: Props) {
  const [drained, setDrained] = useFromAddress(asked, (address) => address.getAll('drain'));
  const address = new URLSearchParams(asked);
  const choose = (node: string, isOn: boolean) =>
    setDrained(isOn ? [...drained, node] : drained.filter((one) => one !== node));
  return (
    <>
      <Choices legend="Drain nodes" name="drain" offered={offered} asked={asked} onChoose={choose} />
      <SelectField label="When a drained node may be switched off" name="policy">
        <PolicyOptions />
      </SelectField>
      {drained.length > 0 && (
        <details open={drained.some((node) => address.has(policyField(node)))}>
          <summary className="min-h-6 cursor-pointer text-sm font-medium">
            Another policy for some of the drained nodes
          </summary>
          <div className="flex flex-col gap-3 pt-3">
            {[...new Set(drained)].sort().map((node) => (
              <SelectField
                key={node}
                label={`When ${node} may be switched off`}
                name={policyField(node)}
                defaultValue={fieldValue(address, policyField(node))}
              >
                <option value="">As the others</option>
                <PolicyOptions />
              </SelectField>
            ))}
          </div>
        </details>
      )}
    </>
  );
}

function PolicyOptions() {
  return (
    <>
      {DRAIN_POLICIES.map((policy) => (
        <option key={policy} value={policy}>
          {POLICY_WORDS[policy]}
        </option>
      ))}
      <option value={POLICY_AS_SET}>As the setting of the cluster says</option>
    </>
  );
}
