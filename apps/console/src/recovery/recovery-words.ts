/** Texts about a volume that copies on the disks make up: obstacles, and what a user may do about them here. */
import type { RecoveryChoice } from '../api/client';
import type { Recovery } from '../api/types';

type Code = NonNullable<Recovery['obstacle']>['code'];

/** Something that a user takes upon them, each on its own. */
export type Consent = {
  readonly name: 'acceptsDeleted' | 'acceptsMissing' | 'fromClusterId';
  readonly value: string;
  readonly label: string;
};

/** Agreements that a user has to give before the volume is made, whichever the plan names first. */
export function consentsTo(
  { obstacle, fromClusterId, isKnown, missingReplicaIds }: Recovery,
  clusterId: string,
): Consent[] {
  const consents: Consent[] = [];
  if (obstacle?.code === 'Deleted') {
    consents.push({ name: 'acceptsDeleted', value: 'on', label: 'Have it back, although it was deleted' });
  }
  if (!isKnown && fromClusterId !== null && fromClusterId !== clusterId) {
    consents.push({
      name: 'fromClusterId',
      value: fromClusterId,
      label: `The control plane of cluster ${fromClusterId} is lost for good, and this one takes its place`,
    });
  }
  if (missingReplicaIds.length > 0) {
    const those = missingReplicaIds.length === 1 ? 'the copy that is' : 'the copies that are';
    const label = `Make it without ${those} missing: it waits for ${missingReplicaIds.length === 1 ? 'it' : 'them'} until it is salvaged`;
    consents.push({ name: 'acceptsMissing', value: 'on', label });
  }
  return consents;
}

/** Cure if there is nothing to agree to; `undefined` if the dialog has it, or there is none. */
const CURES: Record<Code, string | undefined> = {
  NotDescribed: 'Wait a few seconds. If it stays so, see that these agents run and are of this version.',
  NoCurrentCopy: 'Start the agents of the nodes that hold the others.',
  OtherOrganization:
    'Have that organization create the volume again, or remove its copies in the list of orphans.',
  Forked: 'Remove the one to give up, in the list of orphans.',
  EnginesDiffer: 'Remove those that it is not to have, in the list of orphans.',
  Deleted: undefined,
  OtherCluster: undefined,
  MissingCopies: undefined,
  NoProject: undefined,
  NotNeeded: undefined,
};

/** What has to be done elsewhere before the volume can be recovered; `undefined` if it can be recovered from here. */
export function blockOf({ obstacle }: Recovery): { why: string; cure: string } | undefined {
  if (obstacle === null) return undefined;
  const { code, why } = obstacle;
  const cure = CURES[code];
  return cure === undefined ? undefined : { why, cure };
}

const VERDICTS: Record<Recovery['copies'][number]['verdict'], string> = {
  current: 'used',
  stale: 'misses writes',
  unfinished: 'never full',
  silent: 'not known yet',
  leaving: 'being removed',
};

export function verdictWords({ verdict }: Recovery['copies'][number]): string {
  return VERDICTS[verdict];
}

/** Request made of the dialog's form. An unchanged name is not sent: the copies' own one stays. */
export function choiceOf(form: FormData, { name, projectId }: Recovery): RecoveryChoice {
  const text = (field: string) => {
    const value = form.get(field);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [newName, project, fromClusterId] = ['name', 'projectId', 'fromClusterId'].map(text);
  return {
    acceptsDeleted: text('acceptsDeleted') !== undefined,
    acceptsMissing: text('acceptsMissing') !== undefined,
    ...(newName === undefined || newName === name ? {} : { name: newName }),
    ...(project === undefined || project === projectId ? {} : { projectId: project }),
    ...(fromClusterId === undefined ? {} : { fromClusterId }),
  };
}
