/**
 * Commands that start the agent of a new node, with the token by which it joins. What is shown is what is run: the test starts an
 * agent by it, and holds the compose file to the one in `infra/docker/another-node.yml`.
 */
import { shellWord } from '@holdfast/core/model/shell-word.js';

/** How the agent runs: under systemd, as a service beside the compose file, or in the foreground of a shell. */
export const JOIN_WAYS = ['systemd', 'compose', 'shell'] as const;
export type JoinWay = (typeof JOIN_WAYS)[number];

/** Where a command is run. */
export const JOIN_PLACE = {
  systemd:
    'On the new machine, with Holdfast built in /opt/holdfast and its unit installed as docs/OPERATIONS.md says:',
  compose: 'On the machine that runs the compose file, in the folder of docker-compose.yml:',
  shell: 'On the new machine, in the folder that Holdfast was built in:',
} satisfies Record<JoinWay, string>;

/** What is said of an address of the API that nothing vouches for. */
export const GUESSED_ADDRESS =
  'is a guess: the API does not know where nodes reach it. Put the right address in its place, or set HOLDFAST_API_URL for the API.';

/** Values that most nodes have. */
export const USUAL_NODE = {
  diskSize: '100Gi',
  disks: '/var/lib/holdfast/disks',
  stateDir: '/var/lib/holdfast/state',
  controlPort: '7410',
  nbdPort: '7420',
} satisfies Partial<JoinPlan>;

export type JoinPlan = {
  readonly nodeName: string;
  /** Empty: none. */
  readonly zone: string;
  readonly diskSize: string;
  /**
   * Address of the API, as the node reaches it: the agent speaks TLS to it, which the console does not pass on. Empty: as the API knows
   * itself.
   */
  readonly apiUrl: string;
  /** Address of the node, as clients and other nodes reach it. */
  readonly host: string;
  /** Folders, with colons between them. */
  readonly disks: string;
  readonly stateDir: string;
  readonly controlPort: string;
  readonly nbdPort: string;
};

const NODE_NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
/** What needs no quotes in a shell, in YAML and in a file of variables alike, so that one value reads the same in all three. */
const PLAIN = /^[\w@%+./:[\]-]*$/;

/** What is wrong with each field; empty: nothing. Of a compose file only what is in it counts. */
export function wrongWithPlan(plan: JoinPlan, way: JoinWay): Partial<Record<keyof JoinPlan, string>> {
  const rules: [keyof JoinPlan, boolean, string][] = [
    ['nodeName', NODE_NAME.test(plan.nodeName), 'Lower case letters, digits, dots and hyphens.'],
    ['zone', PLAIN.test(plan.zone), 'Letters, digits and . _ - only.'],
    ['diskSize', /^\d{1,15}(Ki|Mi|Gi|Ti)?$/.test(plan.diskSize), 'Bytes, or a number with Ki, Mi, Gi or Ti.'],
  ];
  if (way !== 'compose')
    rules.push(
      [
        'apiUrl',
        plan.apiUrl === '' || (/^https?:\/\//.test(plan.apiUrl) && PLAIN.test(plan.apiUrl)),
        'An address such as http://10.0.0.5:7400/api/v1.',
      ],
      ['host', plan.host !== '' && PLAIN.test(plan.host), 'An address or a name, without spaces.'],
      ['disks', plan.disks.split(':').every(isFolder), 'Absolute folders, with colons between them.'],
      ['stateDir', isFolder(plan.stateDir), 'An absolute folder.'],
      ['controlPort', isPort(plan.controlPort), 'A port.'],
      ['nbdPort', isPort(plan.nbdPort) && plan.nbdPort !== plan.controlPort, 'A port of its own.'],
    );
  return Object.fromEntries(rules.flatMap(([field, isRight, why]) => (isRight ? [] : [[field, why]])));
}

/** @param token shown once, and in the command once */
export function joinCommand(way: JoinWay, plan: JoinPlan, token: string): string {
  switch (way) {
    case 'systemd':
      return [
        'sudo install -d -m 0750 -g holdfast /etc/holdfast',
        "sudo install -m 0640 -g holdfast /dev/stdin /etc/holdfast/agent.env <<'END'",
        ...variablesOf(plan).map(([name, value]) => `${name}=${value}`),
        'HOLDFAST_AGENT_TOKEN_FILE=/etc/holdfast/join-token',
        'END',
        "sudo install -m 0640 -g holdfast /dev/stdin /etc/holdfast/join-token <<'END'",
        token,
        'END',
        'sudo systemctl enable --now holdfast-agent',
      ].join('\n');
    case 'compose':
      return [
        `cat > ${shellWord(fileOf(plan))} <<'END'`,
        composeFile(plan),
        'END',
        `HOLDFAST_JOIN_TOKEN=${shellWord(token)} docker compose -f docker-compose.yml -f ${shellWord(fileOf(plan))} up -d ${serviceOf(plan)}`,
      ].join('\n');
    case 'shell':
      return [
        ...variablesOf(plan).map(([name, value]) => `${name}=${shellWord(value)} \\`),
        `HOLDFAST_AGENT_TOKEN=${shellWord(token)} \\`,
        'node apps/agent/dist/main.js',
      ].join('\n');
  }
}

function variablesOf(plan: JoinPlan): [name: string, value: string][] {
  return [
    ['HOLDFAST_API_URL', plan.apiUrl],
    ['HOLDFAST_NODE_NAME', plan.nodeName],
    ...(plan.zone === '' ? [] : [['HOLDFAST_ZONE', plan.zone] satisfies [string, string]]),
    ['HOLDFAST_ADVERTISE_HOST', plan.host],
    ['HOLDFAST_BIND_HOST', '0.0.0.0'],
    ['HOLDFAST_CONTROL_PORT', plan.controlPort],
    ['HOLDFAST_NBD_PORT', plan.nbdPort],
    ['HOLDFAST_DISKS', plan.disks],
    ['HOLDFAST_DISK_SIZE', plan.diskSize],
    ['HOLDFAST_STATE_DIR', plan.stateDir],
  ];
}

/** A service beside those of `docker-compose.yml`, in a file of its own. */
export function composeFile(plan: JoinPlan): string {
  const service = serviceOf(plan);
  const zone = plan.zone === '' ? [] : [`      HOLDFAST_ZONE: ${JSON.stringify(plan.zone)}`];
  return [
    'services:',
    `  ${service}:`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
    '    image: ${HOLDFAST_IMAGE:-holdfast:0.1.0}',
    '    restart: unless-stopped',
    '    init: true',
    '    read_only: true',
    '    tmpfs: [/tmp]',
    '    cap_drop: [ALL]',
    '    security_opt: ["no-new-privileges:true"]',
    '    command: ["node", "apps/agent/dist/main.js"]',
    '    environment:',
    '      HOLDFAST_API_URL: http://api:7400/api/v1',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
    '      HOLDFAST_AGENT_TOKEN: ${HOLDFAST_JOIN_TOKEN:-}',
    `      HOLDFAST_NODE_NAME: ${JSON.stringify(plan.nodeName)}`,
    ...zone,
    '      HOLDFAST_DISKS: /var/lib/holdfast/disks',
    `      HOLDFAST_DISK_SIZE: ${JSON.stringify(plan.diskSize)}`,
    '      HOLDFAST_STATE_DIR: /var/lib/holdfast/state',
    '      HOLDFAST_BIND_HOST: 0.0.0.0',
    // A name in one network alone: by that it is reached.
    `      HOLDFAST_ADVERTISE_HOST: ${JSON.stringify(plan.nodeName)}`,
    '      HOLDFAST_CONTROL_PORT: "7410"',
    '      HOLDFAST_NBD_PORT: "7420"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
    '      HOLDFAST_METRICS_TOKEN: ${HOLDFAST_METRICS_TOKEN:-}',
    '    networks:',
    `      storage: { aliases: [${JSON.stringify(plan.nodeName)}] }`,
    '      storage-1:',
    '      storage-2:',
    '      storage-3:',
    '    volumes:',
    `      - ${service}-disks:/var/lib/holdfast/disks`,
    `      - ${service}-state:/var/lib/holdfast/state`,
    '    healthcheck:',
    '      test: ["CMD", "node", "infra/docker/healthcheck.mjs", "http://127.0.0.1:7410/livez"]',
    '      interval: 15s',
    '      timeout: 10s',
    '      start_period: 20s',
    '    stop_grace_period: 15s',
    'volumes:',
    `  ${service}-disks:`,
    `  ${service}-state:`,
  ].join('\n');
}

/** A service's name is also a host's: names of nodes may have dots, and no hyphen or digit is wrong there. */
function serviceOf({ nodeName }: JoinPlan): string {
  return `agent-${nodeName.replaceAll('.', '-')}`;
}

function fileOf({ nodeName }: JoinPlan): string {
  return `holdfast-${nodeName}.yml`;
}

/** Which address of the API stands in a command, and who says so. */
export type ApiAddress = { readonly url: string; readonly from: 'user' | 'api' | 'guess' };

/**
 * @param given by the user; empty: none
 * @param known by the API itself; null: it does not know
 * @param guess where neither is there
 */
export function apiAddress(given: string, known: string | null, guess: string): ApiAddress {
  if (given !== '') return { url: given, from: 'user' };
  return known === null ? { url: guess, from: 'guess' } : { url: known, from: 'api' };
}

function isFolder(text: string): boolean {
  return text.startsWith('/') && PLAIN.test(text);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}
