'use client';
import { type JoinPlan, type JoinWay, USUAL_NODE, wrongWithPlan } from '@holdfast/access/join-commands.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../api/client';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { Refusal } from '../shared/refusal';
import { useAction } from '../shared/use-action';
import { Joining, type JoinToken } from './joining';

const LIFE_MINUTES = 60;
const WAYS = {
  systemd: 'Bare metal, under systemd',
  compose: 'A service beside docker-compose.yml',
  shell: 'By hand, in the foreground of a shell',
} satisfies Record<JoinWay, string>;
const NAME_TAKEN = 'A node of this name exists. Its own page lets its agent join again.';

/** Opens the way to a further node: a token for its agent, and the command that starts the agent with it. */
export function AddNodeButton() {
  const [isAsked, setAsked] = useState(false);
  const forbidden = useForbidden()('node:write');
  return (
    <>
      <Button disabledReason={forbidden} onClick={() => setAsked(true)}>
        <Plus aria-hidden size={15} /> Add node…
      </Button>
      {isAsked && <AddNodeDialog onClose={() => setAsked(false)} />}
    </>
  );
}

export function AddNodeDialog({ onClose }: { onClose: () => void }) {
  const cluster = useCluster();
  const [way, setWay] = useState<JoinWay>('systemd');
  const [wrong, setWrong] = useState<ReturnType<typeof wrongWithPlan>>({});
  const [made, setMade] = useState<{ plan: JoinPlan; token: JoinToken }>();
  const make = useAction({
    run: async (plan: JoinPlan) => {
      // A token that names an existing node would let another agent take its place.
      const page = { filter: `name=${plan.nodeName}`, limit: 1, cursor: undefined };
      if ((await api.nodePage(cluster.id, page)).items.length > 0) return undefined;
      const body = { name: `node ${plan.nodeName}`, nodeName: plan.nodeName, lifeMinutes: LIFE_MINUTES };
      return { plan, token: await api.makeJoinToken(cluster.id, body) };
    },
    done: 'shown',
    refusal: 'beside',
    stale: [],
    onDone: (result) => (result === undefined ? setWrong({ nodeName: NAME_TAKEN }) : setMade(result)),
  });
  if (made !== undefined) return <Joining way={way} {...made} onClose={onClose} />;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const plan = planOf(new FormData(event.currentTarget));
    const found = wrongWithPlan(plan, way);
    setWrong(found);
    if (Object.keys(found).length === 0) make.mutate(plan);
  }

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Add a node"
      description={`A node of ${cluster.name} is a machine whose agent has joined. The next step shows the command that starts the agent, with a token that is good once.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        <SelectField
          label="How its agent runs"
          value={way}
          onChange={({ target }) => setWay(wayOf(target.value))}
        >
          {Object.entries(WAYS).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </SelectField>
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Name"
            name="called"
            required
            autoFocus
            autoComplete="off"
            placeholder="node-4"
            error={wrong.nodeName}
          />
          <TextField
            label="Zone"
            name="zone"
            autoComplete="off"
            hint="Copies of a volume are spread over zones. Empty: none."
            error={wrong.zone}
          />
        </div>
        <TextField
          label="Size of a disk"
          name="diskSize"
          required
          defaultValue={USUAL_NODE.diskSize}
          hint="Most that its copies may take of each folder."
          error={wrong.diskSize}
        />
        {way !== 'compose' && <MachineFields wrong={wrong} />}
        {make.error !== null && <Refusal problem={make.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={make.isPending}>
            Show the command
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Values of the compose file if it runs the agent. */
function MachineFields({ wrong }: { wrong: ReturnType<typeof wrongWithPlan> }) {
  return (
    <>
      <TextField
        label="Address of the node"
        name="host"
        required
        autoComplete="off"
        placeholder="10.0.0.17"
        hint="As clients and the other nodes reach it."
        error={wrong.host}
      />
      <TextField
        label="Address of the API"
        name="apiUrl"
        placeholder="As the API is configured"
        hint="As the node reaches it: the API itself and not this console, because agents speak TLS to it. Empty: the API's own setting."
        error={wrong.apiUrl}
      />
      <TextField
        label="Folders of its disks"
        name="disks"
        required
        defaultValue={USUAL_NODE.disks}
        hint="With colons between them; each is a disk."
        error={wrong.disks}
      />
      <details className="text-sm" open={hasAny(wrong, ['stateDir', 'controlPort', 'nbdPort']) || undefined}>
        <summary className="min-h-6 cursor-pointer text-muted">State folder and ports</summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-3">
          <TextField
            label="State folder"
            name="stateDir"
            defaultValue={USUAL_NODE.stateDir}
            error={wrong.stateDir}
          />
          <TextField
            label="Control port"
            name="controlPort"
            defaultValue={USUAL_NODE.controlPort}
            error={wrong.controlPort}
          />
          <TextField
            label="NBD port"
            name="nbdPort"
            defaultValue={USUAL_NODE.nbdPort}
            error={wrong.nbdPort}
          />
        </div>
      </details>
    </>
  );
}

function hasAny(wrong: ReturnType<typeof wrongWithPlan>, fields: readonly (keyof JoinPlan)[]): boolean {
  return fields.some((field) => wrong[field] !== undefined);
}

function wayOf(text: string): JoinWay {
  return text === 'compose' || text === 'shell' ? text : 'systemd';
}

function planOf(form: FormData): JoinPlan {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  return {
    // A field called nodeName would hide that property of the form's own, which React reads.
    nodeName: text('called'),
    zone: text('zone'),
    diskSize: text('diskSize'),
    apiUrl: text('apiUrl'),
    host: text('host'),
    disks: text('disks'),
    stateDir: text('stateDir'),
    controlPort: text('controlPort'),
    nbdPort: text('nbdPort'),
  };
}
