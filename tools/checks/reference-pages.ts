/** Pages of docs/ that are written from the product's tables, so that they can't differ from the code. */
import { AgentMetrics } from '../../apps/agent/src/metrics/agent-metrics.js';
import { ApiMetrics } from '../../apps/api/src/app/metrics/api-metrics.js';
import { WorkerMetrics } from '../../apps/worker/src/metrics/worker-metrics.js';
import { type End, LEFT_BEHIND, type LeftBehind } from '../../packages/access/src/left-behind.js';
import {
  ORGANIZATION_ROLES,
  PERMISSIONS,
  type Permission,
  PROJECT_ROLES,
} from '../../packages/access/src/permissions.js';
import {
  EVENT_TYPES,
  type EventDefinition,
  type EventSubjectKind,
} from '../../packages/core/src/model/event-types.js';
import { SETTINGS, type SettingDefinition } from '../../packages/core/src/model/setting.js';
import { NOT_APPLICABLE } from '../../packages/core/src/settings/longhorn-settings.js';
import { createPool } from '../../packages/database/src/sql/pool.js';
import { systemScope } from '../../packages/database/src/sql/scope.js';

/** The file below docs/, and what has to stand in it. */
export const REFERENCE_PAGES: Readonly<Record<string, () => string>> = {
  'events.md': eventsPage,
  'metrics.md': metricsPage,
  'permissions.md': permissionsPage,
  'settings.md': settingsPage,
};

function eventsPage(): string {
  const types = Object.entries<EventDefinition>(EVENT_TYPES);
  const kinds = [...new Set(types.map(([, { subject }]) => subject))];
  return `# Events

Everything that happens in a cluster is recorded once, as an event with one of these types. Read them with
\`holdfast event list\`, at \`GET /api/v1/clusters/{c}/events\`, or as they happen at \`…/events/stream\`. The events of one
volume carry its id. They are kept for \`event-retention-days\`.

An event's severity follows from its type. *warning*: redundancy or capacity suffers. *error*: a volume can not be used, or
data is at risk. Types are part of the API: new ones are added, none is renamed. This page is written from
\`packages/core/src/model/event-types.ts\`.

${kinds.map((kind) => eventsOf(kind, types)).join('\n\n')}
`;
}

function eventsOf(kind: EventSubjectKind, types: readonly [string, EventDefinition][]): string {
  const rows = types
    .filter(([, { subject }]) => subject === kind)
    .map(([type, { severity, when }]) => `| \`${type}\` | ${severity} | ${when} |`);
  const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  return [`## ${title}`, '', '| type | severity | emitted when |', '|---|---|---|', ...rows].join('\n');
}

type Metric = ApiMetrics['definitions'][number];

/** Metrics that prom-client has of every Node process. */
const OF_NODE = /^holdfast_(?:process|nodejs)_/;

function metricsPage(): string {
  const api = new ApiMetrics({ streams: () => 0, slots: () => ({ used: 0, waiting: 0 }) }).definitions;
  // Only what is registered is asked for: nothing is read from a database.
  const none = createPool('postgres://127.0.0.1:1/none', { connectionsMax: 1, applicationName: 'none' });
  const worker = new WorkerMetrics(systemScope(none), () => ({ volume: 0, cluster: 0 })).definitions;
  const agent = new AgentMetrics().definitions;
  const own = (metrics: readonly Metric[]) => metrics.filter(({ name }) => !OF_NODE.test(name));
  return `# Metrics

What api, worker and agents tell Prometheus at \`/metrics\`. Callers on the machine itself are answered, unless a proxy sent them; with
\`HOLDFAST_METRICS_TOKEN\` set, whoever bears it, and no other. Rules, their tests and a dashboard are in \`infra/\`. Every worker tells the same of
clusters, so take the highest of them. No label names a volume or a tenant's object ([the API's contract](design/api-contract.md#processes-of-two-versions)).
This page is written from what the processes register.

${metricsOf('Api', own(api))}

${metricsOf('Worker', own(worker))}

${metricsOf('Agent', own(agent))}

## Every process

Beside these each process tells what prom-client knows of a Node process, under \`holdfast_process_…\` and \`holdfast_nodejs_…\`: CPU time, memory,
open files, the event loop's delay, garbage collection.
`;
}

function metricsOf(title: string, metrics: readonly Metric[]): string {
  const rows = metrics.map((metric) => {
    const labels = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [];
    return `| \`${metric.name}\` | ${metric.type} | ${labels.join(', ')} | ${metric.help} |`;
  });
  return [`## ${title}`, '', '| metric | type | labels | what it tells |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function permissionsPage(): string {
  const rows = Object.entries<Permission>(PERMISSIONS).map(
    ([action, { organization, project, allows, whole }]) =>
      `| \`${action}\` | ${allows} | ${organization} | ${project ?? ''} | ${whole ?? ''} |`,
  );
  return `# Permissions

Who may do what. A user has one role in an organization, of ${listed(ORGANIZATION_ROLES)}, and may have one more in each of its
projects, of ${listed(PROJECT_ROLES)}. A role may do what those before it may. Beyond its role in the organization, a user may do in a
project what the role there allows, with what is in that project only. A *member* sees no project without a role there.

A token has a role too, and allows what both it and its user may; it may be limited further, to actions, clusters, projects and
reading. \`holdfast auth why <action>\` and \`GET /api/v1/me/permissions\` say what a token may do, and why. This page is written
from \`packages/access/src/permissions.ts\`.

An action that is about the whole of something is not for a token that sees a part of that only: one for clusters or projects does nothing
to the *organization*, one for projects changes nothing of a *cluster*, which all projects share. To such a token only those tokens are there
that were made with it, and the organization's own quota is not.

| action | a user may | least role in the organization | or in the project | about the whole |
|---|---|---|---|---|
${rows.join('\n')}

## What a member leaves behind

What works on after the request that made it ends with its maker's right to make it: when the maker is removed, has a weaker role, or, as a service
account, is disabled ([0331](adr/0331-what-members-leave-behind.md)). It is not there again when the right is. Whoever changes a
webhook, a grant or a provider takes its maker's place. This table is written from \`packages/access/src/left-behind.ts\`.

| what | it | its maker is at least | and once not |
|---|---|---|---|
${Object.entries<LeftBehind>(LEFT_BEHIND)
  .map(([kind, { because, least, end }]) => `| ${kind} | ${because} | ${least} | ${END_WORDS[end]} |`)
  .join('\n')}
`;
}

const END_WORDS: Readonly<Record<End, string>> = {
  judged: 'at each use it allows what its maker may at that moment',
  deleted: 'is deleted',
  ended: 'ends',
  disabled: 'is disabled, until an admin enables it',
  emptied: 'has limits of 0, until an admin sets them; what is there by it stays',
  stays: 'stays',
};

function listed(roles: readonly string[]): string {
  return roles.map((role) => `*${role}*`).join(', ');
}

function settingsPage(): string {
  const settings = Object.entries<SettingDefinition>(SETTINGS);
  const categories = [...new Set(settings.map(([, { category }]) => category))];
  return `# Settings

Every setting belongs to one cluster. Read them with \`holdfast setting list\`, change one with
\`holdfast setting set <name> <value>\`, or at \`/api/v1/clusters/{c}/settings/{name}\`. A change takes effect at once, also for
volumes that are attached. Where a volume may answer for itself, its field is named; *ignored* (0 for a count) follows the
cluster. Where values are *by engine*, volumes of each data engine may have their own: \`{"v1": …, "v2": …}\`. Names, defaults and bounds\nare Longhorn's; *ours* marks a setting that it does not have. This page is written
from \`packages/core/src/model/setting.ts\`.

${categories.map((category) => settingsOf(category, settings)).join('\n\n')}

## Longhorn's settings that do not apply

In the areas scheduling, rebuild, snapshot, eviction and drain. An attempt to set one of them is refused with the reason.

| setting | because |
|---|---|
${Object.entries(NOT_APPLICABLE)
  .map(([name, why]) => `| \`${name}\` | ${why} |`)
  .join('\n')}
`;
}

function settingsOf(category: string, settings: readonly [string, SettingDefinition][]): string {
  const rows = settings
    .filter(([, definition]) => definition.category === category)
    .map(([name, definition]) => {
      const field = definition.volume === undefined ? '' : `\`${definition.volume.field}\``;
      return `| \`${name}\` | ${valuesOf(definition)}${mapOf(definition)} | ${defaultOf(definition)} | ${field} | ${definition.description}${definition.isOurs ? ' *(ours)*' : ''} |`;
    });
  const title = `${category.charAt(0).toUpperCase()}${category.slice(1)}`;
  const head = ['| setting | values | default | of a volume | what it does |', '|---|---|---|---|---|'];
  return [`## ${title}`, '', ...head, ...rows].join('\n');
}

function valuesOf(definition: SettingDefinition): string {
  switch (definition.type) {
    case 'boolean':
      return 'true, false';
    case 'integer':
      return `${definition.min} to ${definition.max}${definition.unit === undefined ? '' : ` ${definition.unit}`}${definition.mayBeUnlimited === undefined ? '' : ', unlimited'}`;
    case 'number':
      return `${definition.min} to ${definition.max}`;
    case 'enum':
      return definition.options.join(', ');
    case 'list':
      return `any of ${definition.options.join(', ')}`;
    default:
      return 'five fields of a schedule, in UTC';
  }
}

function mapOf({ engines }: SettingDefinition): string {
  return engines === undefined ? '' : `; by engine: ${engines.join(', ')}`;
}

function defaultOf({ default: value }: SettingDefinition): string {
  return value === '' ? 'empty' : `\`${value}\``;
}
