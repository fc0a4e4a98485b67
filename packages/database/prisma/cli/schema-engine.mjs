#!/usr/bin/env node
// Takes the place of Prisma's native schema engine: speaks the same JSON-RPC over stdio and the same small command
// line, and leaves the work to @prisma/schema-engine-wasm and @prisma/adapter-pg.
//
// A WASM panic ends the process with exit code 101, which the CLI reads as a panic; any other way of ending would
// let the CLI report success.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { adapterFactory } from './adapter.mjs';

const PANIC_EXIT_CODE = 101;
/** JSON-RPC's code for an application error, as the native engine uses it. */
const ENGINE_ERROR_CODE = 4466;
/** Ids of messages that the engine itself sends; far from those that the CLI counts up. */
const OWN_ID_OFFSET = 100_000;

const argv = process.argv.slice(2);
const datasource = JSON.parse(optionValues('--datasource')[0] ?? '{}');
const commandIndex = argv.indexOf('cli');

if (commandIndex >= 0) await runCommand(argv[commandIndex + 1]);
else await serve();

function optionValues(name) {
  return argv.flatMap((argument, index) => (argument === name ? [argv[index + 1]] : []));
}

/** `can-connect-to-database`, `create-database`, `drop-database`. */
async function runCommand(command) {
  const url = new URL(datasource.url);
  try {
    if (command === 'can-connect-to-database') {
      await withClient(url, async () => {});
    } else {
      const name = pg.escapeIdentifier(decodeURIComponent(url.pathname.slice(1)));
      const verb = command === 'drop-database' ? 'DROP' : 'CREATE';
      const maintenance = Object.assign(new URL(url), { pathname: '/postgres' });
      await withClient(maintenance, (client) => client.query(`${verb} DATABASE ${name}`));
    }
    process.exit(0);
  } catch (error) {
    // The CLI drops the first line of stderr and reads JSON from the next ones.
    const fields = {
      error_code: error.code === '3D000' ? 'P1003' : 'P1001',
      message: error.message || String(error),
    };
    const line = JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields });
    process.stderr.write(`schema-engine (wasm)\n${line}\n`);
    process.exit(1);
  }
}

async function withClient(url, work) {
  const client = new pg.Client({ connectionString: String(url) });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function loadWasm() {
  const require = createRequire(import.meta.url);
  const bindingsPath = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = await import(bindingsPath);
  const bytes = fs.readFileSync(path.join(path.dirname(bindingsPath), 'schema_engine_bg.wasm'));
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    './schema_engine_bg.js': bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
  return bindings;
}

async function serve() {
  let panicMessage;
  globalThis.PRISMA_WASM_PANIC_REGISTRY = {
    set_message: (message) => {
      panicMessage = message;
    },
  };
  process.on('uncaughtException', (error) => {
    const fields = { message: panicMessage ?? error.message, backtrace: error.stack };
    process.stderr.write(`${JSON.stringify({ level: 'ERROR', fields })}\n`);
    process.exit(PANIC_EXIT_CODE);
  });

  const bindings = await loadWasm();
  const datamodels = optionValues('--datamodels').map((file) => [file, fs.readFileSync(file, 'utf8')]);
  const factory = bindMigrationAwareSqlAdapterFactory(adapterFactory(datasource.url));
  const options = datamodels.length > 0 ? { datamodels } : {};
  let enginePromise;
  const engine = () => {
    enginePromise ??= bindings.SchemaEngine.new(options, () => {}, factory);
    return enginePromise;
  };

  // One request after the other, as the native engine does: later ones rely on what earlier ones changed.
  let queue = Promise.resolve();
  const lines = readline.createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    queue = queue.then(() => answer(JSON.parse(line), engine, () => panicMessage));
  });
  lines.on('close', () => queue.then(() => process.exit(0)));
}

async function answer({ id, method, params }, engine, panic) {
  // Without a method it is the CLI's reply to our own `print`.
  if (method === undefined) return;
  try {
    const target = await engine();
    const result = await target[method === 'getDatabaseVersion' ? 'version' : method](params ?? {});
    if (method === 'diff' && typeof result?.stdout === 'string') {
      send({ jsonrpc: '2.0', id: OWN_ID_OFFSET + id, method: 'print', params: { content: result.stdout } });
    }
    send({ jsonrpc: '2.0', id, result: result ?? {} });
  } catch (error) {
    const data = {
      is_panic: panic() !== undefined,
      message: panic() ?? error.message ?? String(error),
      meta: error.meta ?? null,
      error_code: error.code ?? null,
    };
    send({ jsonrpc: '2.0', id, error: { code: ENGINE_ERROR_CODE, message: 'see data', data } });
  }
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
