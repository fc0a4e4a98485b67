// The rooms of the house and what each may import (docs/ARCHITECTURE.md). One list, checked by `npm test`.
// Tests are free of the rooms' rules; only they may import testkit.
const fs = require('node:fs');
const path = require('node:path');

/** room → rooms it may import */
const ROOMS = {
  'packages/core': [],
  'packages/access': ['packages/core/src/model', 'packages/core/src/policy'],
  'packages/control': ['packages/core', 'packages/access'],
  'packages/data-engine': ['packages/core/src/model'],
  'packages/identity': [],
  'packages/tracing': [],
  'packages/database': [
    'packages/core',
    'packages/access',
    'packages/control',
    'packages/identity',
    'packages/tracing',
  ],
  'packages/jobs': ['packages/core', 'packages/control'],
  'packages/api-client': [],
  'packages/ui': [],
  'packages/longhorn': ['packages/core'],
  'packages/backup': ['packages/core/src/model'],
  'packages/scenario': ['packages/core'],
  'packages/simulator': ['packages/core', 'packages/access', 'packages/control', 'packages/scenario'],
  'apps/api': [
    'packages/core',
    'packages/access',
    'packages/control',
    'packages/database',
    'packages/identity',
    'packages/jobs',
    'packages/tracing',
  ],
  'apps/worker': [
    'packages/core',
    'packages/access',
    'packages/control',
    'packages/database',
    'packages/identity',
    'packages/jobs',
    'packages/tracing',
  ],
  'apps/agent': [
    'packages/core/src/model',
    'packages/core/src/rebuild',
    'packages/data-engine',
    'packages/identity',
    'packages/tracing',
    'packages/api-client',
  ],
  'apps/console': [
    'packages/access',
    'packages/api-client',
    'packages/core/src/model',
    'packages/core/src/policy',
    'packages/core/src/listing',
    'packages/ui',
  ],
  'apps/cli': [
    'packages/access',
    'packages/api-client',
    'packages/backup',
    'packages/core',
    'packages/data-engine/src/nbd',
    'packages/database/src/backup',
    'packages/longhorn',
    'packages/scenario',
    'packages/simulator',
    'packages/tracing',
  ],
  'apps/local': ['packages/core', 'packages/database', 'packages/identity'],
  'packages/testkit': ['packages'],
};

/** folder of packages/core/src → folders of it that it may import: facts first, then rules, then what acts on them */
const CORE_FOLDERS = {
  model: [],
  settings: ['model'],
  listing: ['model'],
  alerts: ['model', 'listing'],
  policy: ['model', 'settings'],
  scheduling: ['model', 'settings', 'policy'],
  rebuild: ['model', 'settings', 'policy'],
  admission: ['model', 'settings', 'policy'],
  balance: ['model', 'settings', 'policy', 'scheduling'],
  lifecycle: ['model', 'settings', 'policy', 'scheduling', 'rebuild', 'admission', 'balance'],
  forecast: ['model', 'settings', 'policy', 'scheduling', 'rebuild', 'admission', 'balance', 'lifecycle'],
  drain: [
    'model',
    'settings',
    'policy',
    'scheduling',
    'rebuild',
    'admission',
    'balance',
    'lifecycle',
    'forecast',
  ],
  checks: [
    'model',
    'settings',
    'policy',
    'scheduling',
    'rebuild',
    'admission',
    'balance',
    'lifecycle',
    'forecast',
    'drain',
  ],
};

/** folder of packages/core/src/scheduling → folders of it that it may import: what a rule is, the rules, and what asks them. */
const SCHEDULING_FOLDERS = {
  framework: [],
  filters: ['framework'],
  tiers: ['framework', 'filters'],
  placement: ['framework', 'filters', 'tiers'],
  explanation: ['framework', 'filters', 'tiers', 'placement'],
  index: ['framework', 'filters', 'tiers', 'placement', 'explanation'],
  simulation: ['framework', 'filters', 'tiers', 'placement', 'explanation', 'index'],
  longhorn: ['framework', 'filters', 'tiers', 'placement'],
  conformance: ['framework', 'filters', 'tiers', 'placement', 'longhorn'],
};

/** folder of packages/database/src → folders of it that it may import, for those that many others stand on. */
const DATABASE_FOLDERS = {
  generated: [],
  plain: ['generated', 'sql'],
  rows: ['sql'],
  audit: ['sql'],
  capacity: ['sql'],
  store: ['sql', 'rows', 'audit'],
  queries: ['sql', 'rows', 'audit', 'capacity', 'plain', 'generated', 'store'],
};

/**
 * folder of packages/data-engine/src → folders of it that it may import. A copy's side goes from disks up to the server
 * that answers for copies; an engine knows of all that only what is said on the wire.
 */
const DATA_ENGINE_FOLDERS = {
  base: [],
  protocol: [],
  nbd: ['base'],
  disk: ['base', 'protocol', 'nbd'],
  layers: ['base', 'protocol', 'nbd', 'disk'],
  replica: ['base', 'protocol', 'nbd', 'disk', 'layers'],
  pull: ['base', 'protocol', 'nbd', 'layers', 'replica'],
  'replica-server': ['base', 'protocol', 'nbd', 'disk', 'layers', 'replica', 'pull'],
  engine: ['base', 'protocol', 'nbd'],
};

/**
 * folder of apps/api/src → folders of it that it may import: from what speaks HTTP up to what a process is made of. `main.ts` and
 * `print-openapi.ts` stand above them all.
 */
const API_FOLDERS = {
  config: [],
  http: ['config'],
  access: ['config', 'http'],
  resources: ['config', 'http', 'access'],
  graphql: ['config', 'http', 'access', 'resources'],
  openapi: ['config', 'http', 'access', 'resources'],
  app: ['config', 'http', 'access', 'resources', 'graphql', 'openapi'],
};

/**
 * folder of packages/backup/src → folders of it that it may import: what is decided stands apart from what reads and writes, and knows only the
 * format.
 */
const BACKUP_FOLDERS = {
  model: [],
  rules: ['model'],
  codec: ['model'],
  store: [],
  threads: ['model', 'codec'],
  repository: ['model', 'rules', 'codec', 'store', 'threads'],
  longhorn: ['store'],
};

/** Folders of the console's components that belong to one page, or to the frame around all pages: all but what pages share. */
const CONSOLE_PAGES = fs
  .readdirSync(path.join(__dirname, 'apps/console/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['api', 'shared'].includes(entry.name))
  .map(({ name }) => name)
  .join('|');

const TEST = '\\.test\\.tsx?$|/test/';
const OURS = '^(apps|packages)/';

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `room-${room.replace('/', '-')}`,
  comment: `${room} may import only: ${allowed.join(', ') || 'nothing of the repository'}`,
  severity: 'error',
  from: { path: `^${room}/`, pathNot: TEST },
  to: { path: OURS, pathNot: [`^${room}/`, ...allowed.map((target) => `^${target}/`)] },
}));

/** One rule for each folder of a package: which other folders of it it may import, and which files all of them may (`shared`). */
const folderRules = (room, folders, { root = `packages/${room}/src`, shared = [] } = {}) =>
  Object.entries(folders).map(([folder, allowed]) => ({
    name: `${room}-${folder}`,
    comment: `in ${room}, ${folder} may import only: ${allowed.join(', ') || 'its own files'}`,
    severity: 'error',
    from: { path: `^${root}/${folder}/`, pathNot: TEST },
    to: {
      path: `^${root}/`,
      pathNot: [...shared, ...[folder, ...allowed].map((target) => `^${root}/${target}/`)],
    },
  }));

const DISK_STORES_APART = {
  name: 'disk-stores-apart',
  comment: 'a folder and a block disk share what stands above them in disk, and know nothing of each other',
  severity: 'error',
  from: { path: '^packages/data-engine/src/disk/(block|folder)/', pathNot: TEST },
  to: {
    path: '^packages/data-engine/src/disk/(block|folder)/',
    pathNot: '^packages/data-engine/src/disk/$1/',
  },
};

const API_HTTP_KNOWS_NO_NOUN = {
  name: 'api-http-knows-no-noun',
  comment:
    'what speaks HTTP knows ids, faults and how the database is reached, and nothing of volumes, members or tokens',
  severity: 'error',
  from: { path: '^apps/api/src/http/', pathNot: TEST },
  to: {
    path: '^packages/',
    pathNot: [
      '^packages/core/src/model/(faults|ids|labels)\\.ts$',
      '^packages/database/src/(clock-and-random|sql/.*|queries/list-rows)',
      '^packages/identity/',
    ],
  },
};

const BACKUP_RULES_ARE_PURE = {
  name: 'backup-rules-are-pure',
  comment: 'what to read, to keep, to free and to mend is decided without I/O, clock and randomness',
  severity: 'error',
  from: { path: '^packages/backup/src/(model|rules)/', pathNot: TEST },
  to: {
    dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-peer', 'npm-optional', 'npm-no-pkg', 'npm-unknown'],
  },
};

module.exports = {
  forbidden: [
    ...roomRules,
    ...folderRules('core', CORE_FOLDERS),
    ...folderRules('data-engine', DATA_ENGINE_FOLDERS),
    ...folderRules('scheduling', SCHEDULING_FOLDERS, { root: 'packages/core/src/scheduling' }),
    ...folderRules('database', DATABASE_FOLDERS, { shared: ['^packages/database/src/[^/]+$'] }),
    ...folderRules('api', API_FOLDERS, { root: 'apps/api/src' }),
    ...folderRules('backup', BACKUP_FOLDERS),
    BACKUP_RULES_ARE_PURE,
    DISK_STORES_APART,
    API_HTTP_KNOWS_NO_NOUN,
    {
      name: 'longhorn-through-its-profile',
      comment:
        "the scheduler reads without Longhorn's quirks: its own files know them, a profile names them, and a request may carry its inputs",
      severity: 'error',
      from: {
        path: '^packages/core/src/',
        pathNot: [TEST, '^packages/core/src/scheduling/(longhorn|conformance)/'],
      },
      to: { path: '^packages/core/src/scheduling/longhorn/' },
    },
    {
      name: 'core-is-pure',
      comment:
        'core and access have no I/O, no clock and no randomness: no Node built-ins, and of npm only zod and croner (docs/design/layers-and-disks.md)',
      severity: 'error',
      from: { path: '^packages/(core|access)/src/', pathNot: TEST },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-peer', 'npm-optional', 'npm-no-pkg', 'npm-unknown'],
        pathNot: 'node_modules/(zod|croner)/',
      },
    },
    {
      name: 'control-has-no-io',
      comment: 'control reaches the world through its ports only',
      severity: 'error',
      from: { path: '^packages/(control|simulator)/src/', pathNot: TEST },
      to: { dependencyTypes: ['core', 'npm', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'testkit-only-in-tests',
      comment: 'testkit starts servers and knows every room; nothing that ships may need it',
      severity: 'error',
      from: { path: OURS, pathNot: [TEST, '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'console-pages-apart',
      comment: 'what a second page of the console needs is in its shared folder',
      severity: 'error',
      from: { path: `^apps/console/src/(${CONSOLE_PAGES})/` },
      to: { path: `^apps/console/src/(${CONSOLE_PAGES})/`, pathNot: '^apps/console/src/$1/' },
    },
    {
      name: 'console-shared-serves-pages',
      comment: 'what pages share knows none of them',
      severity: 'error',
      from: { path: '^apps/console/src/(shared|api)/' },
      to: { path: `^apps/console/src/(${CONSOLE_PAGES})/` },
    },
    {
      name: 'no-cycles',
      comment: 'two files that need each other are one file, or miss a third',
      severity: 'error',
      from: { path: OURS },
      to: { circular: true },
    },
    {
      name: 'no-barrels',
      comment: 'no index files inside a package: package.json exports name the doors',
      severity: 'error',
      from: { path: OURS },
      to: { path: '/index\\.tsx?$', pathNot: '/(node_modules|generated)/' },
    },
    {
      name: 'not-unresolvable',
      comment: 'every import must resolve',
      severity: 'error',
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.next|\\.simulation|generated)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['holdfast-source', 'import', 'require', 'node', 'default', 'types'],
    },
  },
};
