// `npm run openapi`: writes packages/api-client/openapi.json, the document of the API as the sources have it, and the client's types.
// Runs on sources, so nothing has to be built. The file is replaced only by a whole document: a run that fails leaves it as it was.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { generate, install, repositoryRoot } from './bootstrap.mjs';

const DOCUMENT = path.join(repositoryRoot, 'packages/api-client/openapi.json');
/** Bytes that a document has at most; it has a tenth of that. */
const DOCUMENT_BYTES_MAX = 32 * 1024 * 1024;

const PRINT = [
  '--no-warnings',
  '--conditions=holdfast-source',
  '--import',
  path.join(repositoryRoot, 'tools/typescript/register.mjs'),
  path.join(repositoryRoot, 'apps/api/src/print-openapi.ts'),
];

/**
 * Runs Node with `args`, and replaces `file` by what it prints. Throws where that is no OpenAPI document with paths.
 *
 * @returns whether the file is another one than before
 */
export function replaceByOutput(file, args) {
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: DOCUMENT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the document could not be made; ${path.basename(file)} is unchanged`);
  const { openapi, paths } = JSON.parse(stdout);
  if (typeof openapi !== 'string' || Object.keys(paths ?? {}).length === 0) {
    throw new Error(`what was printed is no OpenAPI document; ${path.basename(file)} is unchanged`);
  }
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === stdout) return false;
  // A rename replaces the file as a whole, also when this process is ended in between.
  const temporary = `${file}.${process.pid}.tmp`;
  fs.writeFileSync(temporary, stdout);
  fs.renameSync(temporary, file);
  return true;
}

/** Writes the document and what is made of it. */
export function writeDocument() {
  install();
  generate();
  const isNew = replaceByOutput(DOCUMENT, PRINT);
  if (isNew) generate();
  console.log(`holdfast: packages/api-client/openapi.json ${isNew ? 'is written anew' : 'is current'}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDocument();
