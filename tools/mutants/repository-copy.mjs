// Copy of the repository in a temporary folder, in which faults are planted. Packages of npm are linked to those installed here;
// packages of the workspace resolve inside the copy.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Folders whose children are packages of the workspace. */
const PACKAGE_FOLDERS = ['apps', 'packages', 'tools'];
/** What is generated or built and not tracked, and suites need. */
const BUILT = ['dist', path.join('src', 'generated')];

/** @returns the copy's root, the real path of a folder of its own in `os.tmpdir()`: `removeCopy` removes it */
export function makeCopy(repositoryRoot) {
  const copy = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'holdfast-mutants-'));
  // As root the tests' Postgres runs as another user, who must be able to enter.
  fs.chmodSync(copy, 0o755);
  try {
    for (const file of sourceFiles(repositoryRoot)) copyFile(repositoryRoot, copy, file);
    linkRootModules(repositoryRoot, copy);
    for (const folder of packagesOf(repositoryRoot)) copyBuilt(repositoryRoot, copy, folder);
    requireOwnPackages(copy);
    // Temporary files of the suites: they go with the copy, those of a suite that was killed, too.
    fs.mkdirSync(path.join(copy, 'tmp'));
  } catch (error) {
    removeCopy(copy);
    throw error;
  }
  return copy;
}

export function removeCopy(copy) {
  fs.rmSync(copy, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** Tracked files, and new ones that are not ignored. */
function sourceFiles(repositoryRoot) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z'];
  const { stdout, status } = spawnSync('git', args, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  if (status !== 0 || stdout === '') throw new Error('git lists no files: this is no clone');
  return stdout.split('\0').filter((file) => file !== '' && fs.existsSync(path.join(repositoryRoot, file)));
}

function copyFile(from, to, file) {
  fs.mkdirSync(path.join(to, path.dirname(file)), { recursive: true });
  fs.copyFileSync(path.join(from, file), path.join(to, file));
}

function packagesOf(repositoryRoot) {
  return PACKAGE_FOLDERS.flatMap((folder) =>
    fs.readdirSync(path.join(repositoryRoot, folder)).map((name) => path.join(folder, name)),
  ).filter((folder) => fs.existsSync(path.join(repositoryRoot, folder, 'package.json')));
}

/** Links to packages of the workspace are relative, so they are copied as they are; all others lead to what is installed here. */
function linkRootModules(repositoryRoot, copy) {
  const [from, to] = [repositoryRoot, copy].map((root) => path.join(root, 'node_modules'));
  fs.mkdirSync(to);
  for (const name of fs.readdirSync(from)) {
    if (name === '@holdfast') copyLinks(path.join(from, name), path.join(to, name));
    else if (name !== '.cache') fs.symlinkSync(path.join(from, name), path.join(to, name));
  }
}

function copyLinks(from, to) {
  fs.cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

function copyBuilt(repositoryRoot, copy, folder) {
  for (const built of BUILT.map((name) => path.join(folder, name))) {
    if (!fs.existsSync(path.join(repositoryRoot, built))) continue;
    fs.cpSync(path.join(repositoryRoot, built), path.join(copy, built), { recursive: true });
  }
  const modules = path.join(folder, 'node_modules');
  if (fs.existsSync(path.join(repositoryRoot, modules)))
    copyLinks(path.join(repositoryRoot, modules), path.join(copy, modules));
}

/** A link that led out of the copy would have suites pass on sources without the fault. */
function requireOwnPackages(copy) {
  for (const folder of ['.', ...packagesOf(copy)]) {
    const scope = path.join(copy, folder, 'node_modules', '@holdfast');
    const names = fs.existsSync(scope) ? fs.readdirSync(scope) : [];
    for (const link of names.map((name) => path.join(scope, name))) {
      const real = fs.realpathSync(link);
      if (!real.startsWith(copy + path.sep)) throw new Error(`${link} leads out of the copy, to ${real}`);
    }
  }
}
