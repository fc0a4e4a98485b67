import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot, runTool, type ToolResult } from './run-tool.js';

const DEPCRUISE = 'dependency-cruiser/bin/dependency-cruise.mjs';
const CONFIG = path.join(repositoryRoot, '.dependency-cruiser.cjs');

const cruise = (cwd: string) => runTool(DEPCRUISE, ['--config', CONFIG, 'apps', 'packages'], cwd);

const plantations: string[] = [];
afterAll(() => {
  for (const directory of plantations) fs.rmSync(directory, { recursive: true, force: true });
});

/** Makes a tiny repository with the same rooms and the given files in it. */
function plant(files: Record<string, string>): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-rooms-'));
  plantations.push(directory);
  const base = {
    'tsconfig.json': '{}',
    'apps/cli/src/main.ts': 'export {};',
    'packages/core/src/model/x.ts': 'export {};',
  };
  for (const [name, text] of Object.entries({ ...base, ...files })) {
    fs.mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    fs.writeFileSync(path.join(directory, name), text);
  }
  return directory;
}

/** One violation of a rule: the file that breaks it, what it says, and a file that it needs for that, which may say something too. */
type Violation = { rule: string; from: string; says: string; to?: string; toSays?: string };

/** The repository itself is cruised by `code.long.test.ts`. */
describe('a room that imports what it may not is told of', () => {
  test('a clean plantation passes, so that the failures below are the planted ones', () => {
    expect(cruise(plant({})).exitCode).toBe(0);
  });

  // All in one tree, because the tool takes seconds to start. Each must be told of the file that breaks it.
  const violations: Violation[] = [
    {
      rule: 'room-packages-core',
      from: 'packages/core/src/a-room.ts',
      says: "import '../../control/src/b.js';",
      to: 'packages/control/src/b.ts',
    },
    {
      rule: 'room-apps-agent',
      from: 'apps/agent/src/a.ts',
      says: "import '../../../packages/database/src/b.js';",
      to: 'packages/database/src/b.ts',
    },
    {
      rule: 'room-packages-testkit',
      from: 'packages/testkit/src/a-room.ts',
      says: "import '../../../apps/api/src/c.js';",
      to: 'apps/api/src/c.ts',
    },
    {
      rule: 'core-model',
      from: 'packages/core/src/model/a.ts',
      says: "import '../settings/b.js';",
      to: 'packages/core/src/settings/b.ts',
    },
    {
      rule: 'data-engine-engine',
      from: 'packages/data-engine/src/engine/a.ts',
      says: "import '../layers/b.js';",
      to: 'packages/data-engine/src/layers/b.ts',
    },
    {
      rule: 'data-engine-replica',
      from: 'packages/data-engine/src/replica/a.ts',
      says: "import '../pull/b.js';",
      to: 'packages/data-engine/src/pull/b.ts',
    },
    {
      rule: 'backup-rules',
      from: 'packages/backup/src/rules/a-folder.ts',
      says: "import '../store/b.js';",
      to: 'packages/backup/src/store/b.ts',
    },
    {
      rule: 'backup-rules-are-pure',
      from: 'packages/backup/src/rules/a-clock.ts',
      says: "import 'node:os';",
    },
    {
      rule: 'disk-stores-apart',
      from: 'packages/data-engine/src/disk/folder/a.ts',
      says: "import '../block/b.js';",
      to: 'packages/data-engine/src/disk/block/b.ts',
    },
    {
      rule: 'core-rebuild',
      from: 'packages/core/src/rebuild/a.ts',
      says: "import '../scheduling/b.js';",
      to: 'packages/core/src/scheduling/b.ts',
    },
    {
      rule: 'api-http',
      from: 'apps/api/src/http/a.ts',
      says: "import '../access/b.js';",
      to: 'apps/api/src/access/b.ts',
    },
    {
      rule: 'api-access',
      from: 'apps/api/src/access/c.ts',
      says: "import '../resources/tokens/b.js';",
      to: 'apps/api/src/resources/tokens/b.ts',
    },
    {
      rule: 'api-resources',
      from: 'apps/api/src/resources/tokens/c.ts',
      says: "import '../../graphql/b.js';",
      to: 'apps/api/src/graphql/b.ts',
    },
    {
      rule: 'api-graphql',
      from: 'apps/api/src/graphql/c.ts',
      says: "import '../openapi/b.js';",
      to: 'apps/api/src/openapi/b.ts',
    },
    {
      rule: 'api-openapi',
      from: 'apps/api/src/openapi/c.ts',
      says: "import '../app/b.js';",
      to: 'apps/api/src/app/b.ts',
    },
    {
      rule: 'api-http-knows-no-noun',
      from: 'apps/api/src/http/c.ts',
      says: "import '../../../../packages/database/src/queries/tokens.js';",
      to: 'packages/database/src/queries/tokens.ts',
    },
    {
      rule: 'scheduling-framework',
      from: 'packages/core/src/scheduling/framework/a.ts',
      says: "import '../explanation/b.js';",
      to: 'packages/core/src/scheduling/explanation/b.ts',
    },
    {
      rule: 'scheduling-placement',
      from: 'packages/core/src/scheduling/placement/a.ts',
      says: "import '../index/b.js';",
      to: 'packages/core/src/scheduling/index/b.ts',
    },
    {
      rule: 'database-store',
      from: 'packages/database/src/store/a.ts',
      says: "import '../queries/b.js';",
      to: 'packages/database/src/queries/b.ts',
    },
    {
      rule: 'longhorn-through-its-profile',
      from: 'packages/core/src/scheduling/a.ts',
      says: "import './longhorn/b.js';",
      to: 'packages/core/src/scheduling/longhorn/b.ts',
    },
    {
      rule: 'room-packages-access',
      from: 'packages/access/src/a.ts',
      says: "import '../../core/src/lifecycle/b.js';",
      to: 'packages/core/src/lifecycle/b.ts',
    },
    { rule: 'core-is-pure', from: 'packages/access/src/a-file.ts', says: "import 'node:fs';" },
    { rule: 'core-is-pure', from: 'packages/core/src/a-file.ts', says: "import 'node:fs';" },
    { rule: 'control-has-no-io', from: 'packages/control/src/a-socket.ts', says: "import 'node:net';" },
    {
      rule: 'testkit-only-in-tests',
      from: 'apps/api/src/a.ts',
      says: "import '../../../packages/testkit/src/b.js';",
      to: 'packages/testkit/src/b.ts',
    },
    {
      rule: 'console-pages-apart',
      from: 'apps/console/src/disk/a.ts',
      says: "import '../nodes/b.js';",
      to: 'apps/console/src/nodes/b.ts',
    },
    {
      rule: 'console-shared-serves-pages',
      from: 'apps/console/src/shared/a.ts',
      says: "import '../volume/c.js';",
      to: 'apps/console/src/volume/c.ts',
    },
    {
      rule: 'no-cycles',
      from: 'packages/core/src/a-cycle.ts',
      says: "import './b-cycle.js';",
      to: 'packages/core/src/b-cycle.ts',
      toSays: "import './a-cycle.js';",
    },
    {
      rule: 'no-barrels',
      from: 'packages/core/src/a-barrel.ts',
      says: "import './index.js';",
      to: 'packages/core/src/index.ts',
    },
    { rule: 'not-unresolvable', from: 'packages/core/src/a-lost.ts', says: "import './nowhere.js';" },
  ];
  let told: ToolResult;
  beforeAll(() => {
    const files: Record<string, string> = {};
    for (const { from, says, to, toSays = 'export {};' } of violations) {
      files[from] = says;
      if (to !== undefined) files[to] = toSays;
    }
    told = cruise(plant(files));
  });

  test.each(violations)('a planted violation of $rule fails', ({ rule, from }) => {
    expect(told.exitCode).not.toBe(0);
    expect(told.output).toContain(`error ${rule}: ${from} → `);
  });
});
