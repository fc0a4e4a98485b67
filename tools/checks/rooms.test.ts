import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot, runTool } from './run-tool.js';

const DEPCRUISE = 'dependency-cruiser/bin/dependency-cruise.mjs';
const CONFIG = path.join(repositoryRoot, '.dependency-cruiser.cjs');
const TIMEOUT_MS = 60_000;

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

describe('the rooms import only what they may', () => {
  test(
    'in the repository',
    () => {
      const { exitCode, output } = cruise(repositoryRoot);
      expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
    },
    TIMEOUT_MS,
  );

  test(
    'a clean plantation passes, so that the failures below are the planted ones',
    () => {
      expect(cruise(plant({})).exitCode).toBe(0);
    },
    TIMEOUT_MS,
  );

  test.each([
    {
      rule: 'room-packages-core',
      files: {
        'packages/core/src/a.ts': "import '../../control/src/b.js';",
        'packages/control/src/b.ts': 'export {};',
      },
    },
    {
      rule: 'room-apps-agent',
      files: {
        'apps/agent/src/a.ts': "import '../../../packages/database/src/b.js';",
        'packages/database/src/b.ts': 'export {};',
      },
    },
    {
      rule: 'core-model',
      files: {
        'packages/core/src/model/a.ts': "import '../settings/b.js';",
        'packages/core/src/settings/b.ts': 'export {};',
      },
    },
    {
      rule: 'data-engine-engine',
      files: {
        'packages/data-engine/src/engine/a.ts': "import '../layers/b.js';",
        'packages/data-engine/src/layers/b.ts': 'export {};',
      },
    },
    {
      rule: 'data-engine-replica',
      files: {
        'packages/data-engine/src/replica/a.ts': "import '../pull/b.js';",
        'packages/data-engine/src/pull/b.ts': 'export {};',
      },
    },
    {
      rule: 'disk-stores-apart',
      files: {
        'packages/data-engine/src/disk/folder/a.ts': "import '../block/b.js';",
        'packages/data-engine/src/disk/block/b.ts': 'export {};',
      },
    },
    {
      rule: 'core-rebuild',
      files: {
        'packages/core/src/rebuild/a.ts': "import '../scheduling/b.js';",
        'packages/core/src/scheduling/b.ts': 'export {};',
      },
    },
    {
      rule: 'longhorn-through-its-profile',
      files: {
        'packages/core/src/scheduling/a.ts': "import './longhorn/b.js';",
        'packages/core/src/scheduling/longhorn/b.ts': 'export {};',
      },
    },
    { rule: 'core-is-pure', files: { 'packages/core/src/a.ts': "import 'node:fs';" } },
    { rule: 'control-has-no-io', files: { 'packages/control/src/a.ts': "import 'node:net';" } },
    {
      rule: 'testkit-only-in-tests',
      files: {
        'apps/api/src/a.ts': "import '../../../packages/testkit/src/b.js';",
        'packages/testkit/src/b.ts': 'export {};',
      },
    },
    {
      rule: 'console-pages-apart',
      files: {
        'apps/console/src/volume/a.ts': "import '../volumes/b.js';",
        'apps/console/src/volumes/b.ts': 'export {};',
      },
    },
    {
      rule: 'console-shared-serves-pages',
      files: {
        'apps/console/src/shared/a.ts': "import '../volume/b.js';",
        'apps/console/src/volume/b.ts': 'export {};',
      },
    },
    {
      rule: 'no-cycles',
      files: { 'packages/core/src/a.ts': "import './b.js';", 'packages/core/src/b.ts': "import './a.js';" },
    },
    {
      rule: 'no-barrels',
      files: { 'packages/core/src/index.ts': 'export {};', 'packages/core/src/a.ts': "import './index.js';" },
    },
    { rule: 'not-unresolvable', files: { 'packages/core/src/a.ts': "import './nowhere.js';" } },
  ])(
    'a planted violation of $rule fails',
    ({ rule, files }) => {
      const { exitCode, output } = cruise(plant(files));
      expect(exitCode).not.toBe(0);
      expect(output).toContain(rule);
    },
    TIMEOUT_MS,
  );
});
