import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runVector, type VectorResult } from '@holdfast/core/scheduling/conformance/run-vector.js';
import { isInformative } from '@holdfast/core/scheduling/conformance/vector.js';
import { Command } from 'commander';
import { print, remark } from '../context.js';
import { CliError, EXIT } from '../exit-codes.js';

/** Largest file that is read. Files are read whole, one at a time; a larger one holds no vectors. */
const FILE_BYTES_MAX = 256 * 1024 * 1024;

/** `holdfast conformance`: runs recorded placement decisions through the scheduler's code. Needs no running stack. */
export function conformanceCommand(): Command {
  return new Command('conformance')
    .argument('<paths...>', 'files of vectors, or folders with them')
    .addHelpText(
      'after',
      '\nPrints one line per vector that fails, then `N passed, M failed`; exit code 3 when any failed.' +
        '\nThe auto-balance categories are informative and left out.',
    )
    .action(async (paths: string[]) => {
      const counts = { passed: 0, failed: 0, leftOut: 0 };
      for (const file of await vectorFiles(paths)) {
        for (const vector of await readVectors(file)) {
          if (isInformative(vector)) counts.leftOut += 1;
          else counts[report(runVector(vector))] += 1;
        }
      }
      if (counts.leftOut > 0) remark(`${counts.leftOut} auto-balance vectors left out`);
      print(`${counts.passed} passed, ${counts.failed} failed`);
      if (counts.failed > 0) process.exitCode = EXIT.unsatisfied;
    });
}

function report({ name, passed, got, wanted }: VectorResult): 'passed' | 'failed' {
  if (passed) return 'passed';
  print(`${name}: got ${got}, wanted ${wanted}`);
  return 'failed';
}

/** Files of vectors in the order given; those of a folder by name. */
async function vectorFiles(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const entry = await stat(path).catch(() => undefined);
    if (entry === undefined) throw new CliError(EXIT.usage, `there is no file or folder ${path}`);
    if (!entry.isDirectory()) {
      files.push(path);
      continue;
    }
    const names = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
    if (names.length === 0) throw new CliError(EXIT.usage, `${path} has no .json files`);
    files.push(...names.map((name) => join(path, name)));
  }
  return files;
}

async function readVectors(file: string): Promise<unknown[]> {
  const { size } = await stat(file);
  if (size > FILE_BYTES_MAX) throw new CliError(EXIT.usage, `${file} is too large for a file of vectors`);
  const vectors = parseJson(await readFile(file, 'utf8'), file);
  if (!Array.isArray(vectors)) throw new CliError(EXIT.usage, `${file} holds no list of vectors`);
  return vectors;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.usage, `${file} is not JSON: ${why}`);
  }
}
