// Process beside a Jest run that keeps what the run's suites share: a local stack without agents, and a browser. Each is started
// when a suite first asks for it. When the run's process is gone, however that ended, the keeper ends these parts, agents that suites
// have left, and the parts of single Jest workers (packages/testkit/src/worker-parts.ts).
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [, , folder] = process.argv;

/** Settings of the stack that some suites need and none minds. */
const STACK_ENVIRONMENT = {
  HOLDFAST_AGENTS: '0',
  // Receivers of webhooks and sign-in providers of tests are on this machine, which the product does not call otherwise.
  HOLDFAST_WEBHOOK_NETWORKS: '127.0.0.0/8',
  HOLDFAST_OIDC_NETWORKS: '127.0.0.0/8',
};

const starts = { '/stack': startStack, '/browser': startBrowser };
/** Parts by their paths, from the moment that they were asked for. One that could not be started stays so for the whole run. */
const parts = new Map();

async function startStack() {
  const { LocalStack } = await import('@holdfast/testkit/local-stack.js');
  const { startTestServer } = await import('@holdfast/testkit/test-database.js');
  const database = await startTestServer();
  const { ownerUrl, systemUrl } = database;
  const env = { ...STACK_ENVIRONMENT, DATABASE_URL: ownerUrl };
  try {
    const stack = await LocalStack.start({ console: true, env });
    const stop = async () => {
      await stack.destroy();
      await database.stop();
    };
    return { told: { home: stack.home, ownerUrl, systemUrl }, stop };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

async function startBrowser() {
  const { findBrowser, startBrowserServer } = await import('@holdfast/testkit/browser.js');
  const server = await startBrowserServer(findBrowser());
  return { told: { endpoint: server.wsEndpoint() }, stop: () => server.close() };
}

const server = http.createServer(async (request, response) => {
  try {
    const { told } = await partAt(request.url);
    response.end(JSON.stringify(told));
  } catch (error) {
    response.writeHead(500).end(String(error?.stack ?? error));
  }
});

function partAt(url) {
  const start = starts[url];
  if (start === undefined) throw new Error(`there is no shared part ${url}`);
  if (!parts.has(url)) parts.set(url, start());
  return parts.get(url);
}

/** Agents have a process group each, which suites note as a file of that name. */
function killAgents() {
  const agents = path.join(folder, 'agents');
  for (const pid of fs.existsSync(agents) ? fs.readdirSync(agents) : []) {
    try {
      process.kill(-Number(pid), 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }
}

/** Ends what suites of one Jest worker shared. Each such process is a file `<name>.process.json`: `{ pid, signal }`. */
function endWorkerParts() {
  for (const name of fs.readdirSync(folder).filter((file) => file.endsWith('.process.json'))) {
    const { pid, signal } = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    try {
      process.kill(pid, signal);
    } catch {
      // It is gone already.
    }
  }
}

process.once('disconnect', async () => {
  server.close();
  killAgents();
  endWorkerParts();
  const started = await Promise.allSettled(parts.values());
  await Promise.allSettled(started.map(({ value }) => value?.stop()));
  // Postgres writes there until it has ended.
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  process.exit(0);
});

server.listen(path.join(folder, 'keeper.sock'), () => process.send('listening'));
