// Process beside a Jest run that keeps what the run's suites share: a local stack without agents, and a browser. Each is started
// when a suite first asks for it. It ends them, and what agents suites have left, when the run's process is gone, however that ended.
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
  const { startTestDatabase } = await import('@holdfast/testkit/test-database.js');
  const database = await startTestDatabase();
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

process.once('disconnect', async () => {
  server.close();
  killAgents();
  const started = await Promise.allSettled(parts.values());
  await Promise.allSettled(started.map(({ value }) => value?.stop()));
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

server.listen(path.join(folder, 'keeper.sock'), () => process.send('listening'));
