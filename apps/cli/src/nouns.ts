/**
 * Table of the CLI's nouns. Only the requested one is loaded: the simulator alone takes longer to load than a request. Texts of all
 * nouns for help and completion are here, so that they load none.
 */
import { Command } from 'commander';

export type Noun = {
  /** The first is shown; the others are aliases. */
  readonly names: readonly string[];
  readonly description: string;
  readonly load: () => Promise<Command>;
};

const WHAT_IF = 'effects of a change, and their duration; nothing is changed';

export const NOUNS: readonly Noun[] = [
  noun(['cluster', 'clusters'], 'groups of nodes that share settings', async () =>
    (await import('./commands/cluster.js')).clusterCommand(),
  ),
  noun(['node', 'nodes'], 'storage nodes', async () => (await import('./commands/node.js')).nodeCommand()),
  noun(['disk', 'disks'], 'disks of the nodes', async () =>
    (await import('./commands/disk.js')).diskCommand(),
  ),
  noun(['orphan', 'orphans'], 'copies on disks that belong to no replica', async () =>
    (await import('./commands/orphan.js')).orphanCommand(),
  ),
  noun(
    ['recover'],
    'which lost volumes the copies on the disks make up; with --yes they are made again',
    async () => (await import('./commands/recover.js')).recoverCommand(),
  ),
  noun(['volume', 'volumes'], 'replicated block volumes', async () =>
    (await import('./commands/volume.js')).volumeCommand(),
  ),
  noun(['rebuild', 'rebuilds'], 'replicas being made full copies again', async () =>
    (await import('./commands/rebuild.js')).rebuildCommand(),
  ),
  noun(
    ['operation', 'operations'],
    'long work: rebuilds, drains, expansions, deletions and others',
    async () => (await import('./commands/operation.js')).operationCommand(),
  ),
  noun(['snapshot', 'snapshots'], 'snapshots of attached volumes', async () =>
    (await import('./commands/snapshot.js')).snapshotCommand(),
  ),
  noun(['setting', 'settings'], 'settings of the cluster', async () =>
    (await import('./commands/setting.js')).settingCommand(),
  ),
  noun(['alert', 'alerts'], 'causes that need an operator', async () =>
    (await import('./commands/alert.js')).alertCommand(),
  ),
  noun(['webhook', 'webhooks'], 'receivers of events, over HTTP', async () =>
    (await import('./commands/webhook.js')).webhookCommand(),
  ),
  noun(['audit'], 'changes with their actors, and verification of that record', async () =>
    (await import('./commands/audit.js')).auditCommand(),
  ),
  noun(['event', 'events'], 'what happened', async () =>
    (await import('./commands/event.js')).eventCommand(),
  ),
  noun(['placement', 'placements'], 'where new volumes would fit', async () =>
    (await import('./commands/placement.js')).placementCommand(),
  ),
  noun(['what-if'], WHAT_IF, async () => (await import('./commands/placement.js')).whatIfCommand()),
  noun(['auth'], 'your identity and permissions', async () =>
    (await import('./commands/auth.js')).authCommand(),
  ),
  noun(['context', 'contexts'], 'control planes known to this machine, with a token for each', async () =>
    (await import('./commands/context.js')).contextCommand(),
  ),
  noun(['token', 'tokens'], 'API tokens of your own', async () =>
    (await import('./commands/token.js')).tokenCommand(),
  ),
  noun(['organization', 'org', 'organizations'], 'tenants', async () =>
    (await import('./commands/organization.js')).organizationCommand(),
  ),
  noun(['project', 'projects'], "groups of an organization's volumes", async () =>
    (await import('./commands/project.js')).projectCommand(),
  ),
  noun(['member', 'members'], 'users of the organization', async () =>
    (await import('./commands/member.js')).memberCommand(),
  ),
  noun(
    ['service-account', 'service-accounts'],
    'members for programs, which have tokens and never sign in',
    async () => (await import('./commands/service-account.js')).serviceAccountCommand(),
  ),
  noun(['grant', 'grants'], "another organization's leave to place volumes in a cluster", async () =>
    (await import('./commands/grant.js')).grantCommand(),
  ),
  noun(['quota', 'quotas'], 'limits of the organization and its projects', async () =>
    (await import('./commands/quota.js')).quotaCommand(),
  ),
  noun(['api'], 'make one request of the API, and print its answer as it is', async () =>
    (await import('./commands/raw-api.js')).apiCommand(),
  ),
  noun(['backup', 'backups'], "backups of the control plane's database", async () =>
    (await import('./commands/backup.js')).backupCommand(),
  ),
  noun(['backup-repository'], 'check a repository of volume backups at its target', async () =>
    (await import('./commands/backup-repository.js')).backupRepositoryCommand(),
  ),
  noun(['local'], 'the stack that `npm start` runs on this machine', async () =>
    (await import('./commands/local.js')).localCommand(),
  ),
  noun(
    ['conformance'],
    "compare the longhorn profile's placements with recorded decisions of Longhorn's scheduler",
    async () => (await import('./commands/conformance.js')).conformanceCommand(),
  ),
  noun(['longhorn'], 'inspect clusters of Longhorn from files, and read its backups and replicas', async () =>
    (await import('./commands/longhorn.js')).longhornCommand(),
  ),
  noun(['simulate'], 'run scenario files: given, steps and expectations', async () =>
    (await import('./commands/simulate.js')).simulateCommand(),
  ),
];

function noun(names: readonly string[], description: string, load: () => Promise<Command>): Noun {
  return { names, description, load };
}

/** The noun's command with its verbs. */
export async function loaded(noun: Noun): Promise<Command> {
  return named(noun, await noun.load());
}

/** The noun's name, aliases and description only, for a list of all nouns. */
export function listed(noun: Noun): Command {
  return named(noun, new Command(noun.names[0]));
}

function named({ names, description }: Noun, command: Command): Command {
  return command.aliases(names.slice(1)).description(description);
}

/** The noun that the arguments are about; `undefined`: none, such as for help. */
export function nounIn(args: readonly string[]): Noun | undefined {
  for (const arg of args) {
    const found = NOUNS.find(({ names }) => names.includes(arg));
    if (found !== undefined) return found;
  }
  return undefined;
}
