/** Table of the CLI's nouns. Only the one that is asked for is loaded: the simulator alone takes longer to load than a request. */
import type { Command } from 'commander';

export type Noun = { readonly names: readonly string[]; readonly load: () => Promise<Command> };

export const NOUNS: readonly Noun[] = [
  noun(['cluster', 'clusters'], async () => (await import('./commands/cluster.js')).clusterCommand()),
  noun(['node', 'nodes'], async () => (await import('./commands/node.js')).nodeCommand()),
  noun(['disk', 'disks'], async () => (await import('./commands/disk.js')).diskCommand()),
  noun(['orphan', 'orphans'], async () => (await import('./commands/orphan.js')).orphanCommand()),
  noun(['recover'], async () => (await import('./commands/recover.js')).recoverCommand()),
  noun(['volume', 'volumes'], async () => (await import('./commands/volume.js')).volumeCommand()),
  noun(['rebuild', 'rebuilds'], async () => (await import('./commands/rebuild.js')).rebuildCommand()),
  noun(['operation', 'operations'], async () => (await import('./commands/operation.js')).operationCommand()),
  noun(['snapshot', 'snapshots'], async () => (await import('./commands/snapshot.js')).snapshotCommand()),
  noun(['setting', 'settings'], async () => (await import('./commands/setting.js')).settingCommand()),
  noun(['alert', 'alerts'], async () => (await import('./commands/alert.js')).alertCommand()),
  noun(['webhook', 'webhooks'], async () => (await import('./commands/webhook.js')).webhookCommand()),
  noun(['audit'], async () => (await import('./commands/audit.js')).auditCommand()),
  noun(['event', 'events'], async () => (await import('./commands/event.js')).eventCommand()),
  noun(['placement'], async () => (await import('./commands/placement.js')).placementCommand()),
  noun(['what-if'], async () => (await import('./commands/placement.js')).whatIfCommand()),
  noun(['auth'], async () => (await import('./commands/auth.js')).authCommand()),
  noun(['context', 'contexts'], async () => (await import('./commands/context.js')).contextCommand()),
  noun(['token', 'tokens'], async () => (await import('./commands/token.js')).tokenCommand()),
  noun(['organization', 'organizations'], async () =>
    (await import('./commands/organization.js')).organizationCommand(),
  ),
  noun(['project', 'projects'], async () => (await import('./commands/project.js')).projectCommand()),
  noun(['member', 'members'], async () => (await import('./commands/member.js')).memberCommand()),
  noun(['service-account', 'service-accounts'], async () =>
    (await import('./commands/service-account.js')).serviceAccountCommand(),
  ),
  noun(['grant', 'grants'], async () => (await import('./commands/grant.js')).grantCommand()),
  noun(['quota'], async () => (await import('./commands/quota.js')).quotaCommand()),
  noun(['api'], async () => (await import('./commands/raw-api.js')).apiCommand()),
  noun(['backup', 'backups'], async () => (await import('./commands/backup.js')).backupCommand()),
  noun(['local'], async () => (await import('./commands/local.js')).localCommand()),
  noun(['conformance'], async () => (await import('./commands/conformance.js')).conformanceCommand()),
  noun(['simulate'], async () => (await import('./commands/simulate.js')).simulateCommand()),
];

function noun(names: readonly string[], load: () => Promise<Command>): Noun {
  return { names, load };
}

/** The noun that the arguments are about; `undefined`: none, such as for help. */
export function nounIn(args: readonly string[]): Noun | undefined {
  for (const arg of args) {
    const found = NOUNS.find(({ names }) => names.includes(arg));
    if (found !== undefined) return found;
  }
  return undefined;
}
